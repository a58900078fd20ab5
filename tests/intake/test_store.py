"""Keeping a checkpoint: whole or not at all, read-only, under its identity, and provable later (security B8)."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from evaluator.errors import IntegrityError
from evaluator.intake import Admission, clear_leftovers, store, verify
from tests.intake.conftest import admitted


@pytest.fixture
def admission(good: Path) -> Admission:
    return admitted(good)


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    return tmp_path / "checkpoints"


@pytest.fixture
def stored(good: Path, admission: Admission, shelf: Path) -> Path:
    return store(good, admission, shelf)


def test_it_keeps_the_files_under_the_identity(good: Path, admission: Admission, shelf: Path, stored: Path) -> None:
    assert stored == shelf / admission.digest.removeprefix("sha256:")
    assert {path.name: path.read_bytes() for path in stored.iterdir()} == {
        path.name: path.read_bytes() for path in good.iterdir()
    }
    assert list(shelf.iterdir()) == [stored]


def test_the_files_are_read_only_and_readable_by_every_guest(stored: Path) -> None:
    assert stat.S_IMODE(stored.stat().st_mode) == 0o755
    assert {stat.S_IMODE(path.stat().st_mode) for path in stored.iterdir()} == {0o444}


def test_the_copy_is_nobody_elses_file(good: Path, admission: Admission, stored: Path) -> None:
    with (good / "config.json").open("r+b") as held_open:
        held_open.write(b"XXXX")

    verify(stored, admission.manifest)
    assert {path.stat().st_nlink for path in stored.iterdir()} == {1}


def test_storing_again_changes_nothing(good: Path, admission: Admission, shelf: Path, stored: Path) -> None:
    before = {path.name: path.stat().st_ino for path in stored.iterdir()}

    assert store(good, admission, shelf) == stored
    assert {path.name: path.stat().st_ino for path in stored.iterdir()} == before


def test_it_stores_nothing_where_one_file_changed(good: Path, admission: Admission, shelf: Path) -> None:
    with (good / "tokenizer.json").open("ab") as file:
        file.write(b" ")

    with pytest.raises(IntegrityError, match=r"tokenizer\.json"):
        store(good, admission, shelf)
    assert list(shelf.iterdir()) == []


def test_it_does_not_follow_a_link_that_took_a_files_place(good: Path, admission: Admission, shelf: Path) -> None:
    (good / "config.json").rename(good.parent / "config.json")
    (good / "config.json").symlink_to(good.parent / "config.json")

    with pytest.raises(IntegrityError, match=r"config\.json"):
        store(good, admission, shelf)


def test_storing_again_over_a_spoiled_copy_is_an_incident(
    good: Path, admission: Admission, shelf: Path, stored: Path
) -> None:
    _flip(stored / "model.safetensors")

    with pytest.raises(IntegrityError, match=r"model\.safetensors"):
        store(good, admission, shelf)


def test_two_at_once_end_as_one(
    good: Path, admission: Admission, shelf: Path, stored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one wins between our look and our rename."""
    monkeypatch.setattr(Path, "exists", lambda path: False)

    assert store(good, admission, shelf) == stored
    assert list(shelf.iterdir()) == [stored]


def test_verify_passes_what_was_stored(admission: Admission, stored: Path) -> None:
    verify(stored, admission.manifest)


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "chat_template.jinja"])
def test_verify_refuses_one_flipped_byte(admission: Admission, stored: Path, name: str) -> None:
    _flip(stored / name)

    with pytest.raises(IntegrityError, match=name):
        verify(stored, admission.manifest)


def test_verify_refuses_a_missing_file(admission: Admission, stored: Path) -> None:
    (stored / "config.json").unlink()

    with pytest.raises(IntegrityError, match=r"config\.json"):
        verify(stored, admission.manifest)


def test_verify_refuses_an_added_file(admission: Admission, stored: Path) -> None:
    (stored / "modeling_x.py").write_text("pass", encoding="utf-8")

    with pytest.raises(IntegrityError, match=r"modeling_x\.py"):
        verify(stored, admission.manifest)


def test_verify_refuses_a_longer_file(admission: Admission, stored: Path) -> None:
    path = stored / "config.json"
    path.chmod(0o644)
    with path.open("ab") as file:
        file.write(b"\n")

    with pytest.raises(IntegrityError, match=r"config\.json"):
        verify(stored, admission.manifest)


def test_verify_does_not_block_on_a_pipe(admission: Admission, stored: Path) -> None:
    (stored / "config.json").unlink()
    os.mkfifo(stored / "config.json")

    with pytest.raises(IntegrityError, match=r"config\.json"):
        verify(stored, admission.manifest)


def test_what_a_killed_store_left_is_cleared_later(shelf: Path, stored: Path) -> None:
    (shelf / ".incoming-abc").mkdir()
    (shelf / ".incoming-abc" / "model.safetensors").write_bytes(b"half")
    made = (shelf / ".incoming-abc").stat().st_mtime

    assert clear_leftovers(shelf, older_than_s=60, now=made + 10) == 0
    assert clear_leftovers(shelf, older_than_s=60, now=made + 100) == 1
    assert list(shelf.iterdir()) == [stored]


def _flip(path: Path) -> None:
    path.chmod(0o644)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
