"""Where the code runs from: a clone that others can't read is copied, one they can read is not."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from box import home

pytestmark = pytest.mark.root


@pytest.fixture
def clone(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A small repository below a folder that is closed to others."""
    top = Path(tempfile.mkdtemp(prefix="heldout-home-"))
    top.chmod(0o755)
    monkeypatch.setattr(home, "SHELF", top / "shelf")
    made = top / "closed" / "clone"
    (made / "box").mkdir(parents=True)
    made.parent.chmod(0o700)
    for name, text in {"box/a.py": "1\n", "run": "#!/bin/sh\n", ".gitignore": "/var/\n"}.items():
        (made / name).write_text(text)
    (made / "run").chmod(0o755)
    subprocess.run(["git", "init", "-q", made], check=True)
    subprocess.run(["git", "-C", made, "add", "."], check=True)
    yield made
    shutil.rmtree(top)


def test_a_clone_that_others_can_not_reach_runs_from_a_copy(clone: Path) -> None:
    copy = home.settle(clone)
    assert copy != clone
    assert (copy / "box" / "a.py").read_text() == "1\n"
    assert os.access(copy / "run", os.X_OK)
    assert (clone / "var").resolve() == copy / "var"


def test_the_copy_follows_the_clone_and_keeps_its_state(clone: Path) -> None:
    copy = home.settle(clone)
    (copy / "var" / "kept").write_text("x")
    (clone / "box" / "a.py").unlink()
    (clone / "box" / "b.py").write_text("2\n")
    home.settle(clone)
    assert not (copy / "box" / "a.py").exists()
    assert (copy / "box" / "b.py").read_text() == "2\n"
    assert (copy / "var" / "kept").read_text() == "x"


def test_everything_in_the_copy_is_readable_whatever_the_umask(clone: Path) -> None:
    (clone / "box" / "a.py").chmod(0o600)
    before = os.umask(0o077)
    try:
        copy = home.settle(clone)
    finally:
        os.umask(before)
    paths = [path for path in copy.rglob("*") if ".git" not in path.parts]
    assert all(path.stat().st_mode & (0o005 if path.is_dir() else 0o004) for path in paths)


@pytest.mark.parametrize("closed", ["box", "box/a.py"])
def test_one_closed_file_is_enough(clone: Path, closed: str) -> None:
    clone.parent.chmod(0o755)
    assert home.settle(clone) == clone
    (clone / closed).chmod(0o700)
    assert not home.readable(clone)


def test_the_copy_knows_the_commit(clone: Path) -> None:
    options = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", *options, "-C", clone, "commit", "-q", "-m", "one"], check=True)
    copy = home.settle(clone)
    wanted, found = (
        subprocess.run(["git", "-C", where, "rev-parse", "HEAD"], check=True, capture_output=True).stdout
        for where in (clone, copy)
    )
    assert found == wanted
