"""A checkpoint is what its manifest says at the moment it is mounted, and still is at the end."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from evaluator.errors import IntegrityError
from evaluator.isolation.checkpoints import folder_of, verify
from tests.isolation.launching import admitted

FILES = {"config.json": b"{}", "model.safetensors": b"weights"}


@pytest.fixture
def manifest(tmp_path: Path) -> dict[str, Any]:
    return admitted(tmp_path, FILES)


def refused(root: Path, manifest: dict[str, Any]) -> str:
    with pytest.raises(IntegrityError) as caught:
        verify(root, manifest)
    return str(caught.value)


def test_it_takes_the_files_of_the_manifest(tmp_path: Path, manifest: dict[str, Any]) -> None:
    assert verify(tmp_path, manifest).unchanged()


def test_one_flipped_byte_is_refused(tmp_path: Path, manifest: dict[str, Any]) -> None:
    file = folder_of(tmp_path, manifest) / "model.safetensors"
    file.chmod(0o644)
    file.write_bytes(b"weightz")
    assert "model.safetensors is not" in refused(tmp_path, manifest)


def test_another_size_is_refused(tmp_path: Path, manifest: dict[str, Any]) -> None:
    file = folder_of(tmp_path, manifest) / "config.json"
    file.chmod(0o644)
    file.write_bytes(b"{} ")
    assert "config.json is not" in refused(tmp_path, manifest)


def test_one_file_more_is_refused(tmp_path: Path, manifest: dict[str, Any]) -> None:
    (folder_of(tmp_path, manifest) / "modeling.py").write_text("")
    assert "modeling.py" in refused(tmp_path, manifest)


def test_one_file_less_is_refused(tmp_path: Path, manifest: dict[str, Any]) -> None:
    (folder_of(tmp_path, manifest) / "config.json").unlink()
    assert "config.json" in refused(tmp_path, manifest)


@pytest.mark.parametrize("kind", ["link", "folder", "fifo"])
def test_what_is_no_regular_file_is_refused(tmp_path: Path, manifest: dict[str, Any], kind: str) -> None:
    path = folder_of(tmp_path, manifest) / "config.json"
    path.unlink()
    {"link": lambda: path.symlink_to("/etc/hostname"), "folder": path.mkdir, "fifo": lambda: os.mkfifo(path)}[kind]()
    assert "no regular file" in refused(tmp_path, manifest)


def test_a_folder_that_is_a_link_is_refused(tmp_path: Path, manifest: dict[str, Any]) -> None:
    folder = folder_of(tmp_path, manifest)
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    assert "no such folder" in refused(tmp_path, manifest)


def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    assert "no such folder" in refused(tmp_path, {"format": "heldout.checkpoint/1", "files": []})


def test_a_change_that_was_undone_is_noticed(tmp_path: Path, manifest: dict[str, Any]) -> None:
    verified = verify(tmp_path, manifest)
    file = folder_of(tmp_path, manifest) / "config.json"
    file.chmod(0o644)
    file.write_bytes(b"[]")
    file.write_bytes(b"{}")
    file.chmod(0o444)
    assert not verified.unchanged()


def test_a_vanished_folder_is_noticed(tmp_path: Path, manifest: dict[str, Any]) -> None:
    verified = verify(tmp_path, manifest)
    folder_of(tmp_path, manifest).rename(tmp_path / "elsewhere")
    assert not verified.unchanged()
