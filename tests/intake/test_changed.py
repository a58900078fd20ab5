"""A file that changes between check and use is never what is kept (security B8)."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evaluator.errors import IntegrityError, Refused
from evaluator.intake import admission, admit, judge, store
from tests.intake.conftest import QUICK


def _after_the_check(monkeypatch: pytest.MonkeyPatch, change: Callable[[], object]) -> None:
    """Runs ``change`` when the child has judged and nothing is hashed yet."""
    honest = judge.judge

    def judged(*arguments: Any, **options: Any) -> Any:
        verdict = honest(*arguments, **options)
        change()
        return verdict

    monkeypatch.setattr(admission, "judge", judged)


def _overwrite(path: Path, at: int) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(b"X")


@pytest.mark.parametrize(("name", "at"), [("config.json", 5), ("model.safetensors", 20), ("model.safetensors", 20_000)])
def test_it_refuses_a_file_written_to_after_the_check(
    good: Path, monkeypatch: pytest.MonkeyPatch, name: str, at: int
) -> None:
    _after_the_check(monkeypatch, lambda: _overwrite(good / name, at))

    with pytest.raises(Refused) as refusal:
        admit(good, limits=QUICK)

    assert [(finding.code, finding.where) for finding in refusal.value.findings] == [("changed", name)]


def test_setting_the_times_back_does_not_help(good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = good / "model.safetensors"
    before = path.stat()

    def change() -> None:
        _overwrite(path, 20_000)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    _after_the_check(monkeypatch, change)

    with pytest.raises(Refused, match="changed while it was checked"):
        admit(good, limits=QUICK)


def test_it_refuses_a_file_exchanged_by_name(good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def exchange() -> None:
        (good / "new").write_bytes(b"{}")
        (good / "new").replace(good / "config.json")

    _after_the_check(monkeypatch, exchange)

    with pytest.raises(Refused, match="changed while it was checked"):
        admit(good, limits=QUICK)


def test_a_file_exchanged_after_admission_is_not_stored(good: Path) -> None:
    admitted = admit(good, limits=QUICK)
    (good / "new").write_bytes(b"{}")
    (good / "new").replace(good / "config.json")

    with pytest.raises(IntegrityError, match=r"config\.json"):
        store(good, admitted, good.parent / "store")
    assert list((good.parent / "store").iterdir()) == []


def test_bytes_that_the_child_did_not_read_are_not_admitted(good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even where no time stamp tells: the digest of what was parsed must be that of what is hashed."""
    monkeypatch.setattr("evaluator.intake.folder.stamp", lambda file: (0, 0, 0))
    _after_the_check(monkeypatch, lambda: _overwrite(good / "tokenizer.json", 5))

    with pytest.raises(Refused, match="changed while it was checked"):
        admit(good, limits=QUICK)
