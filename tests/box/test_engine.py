"""Docker Engine: what a killed daemon leaves behind is removed, what a living one holds is not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from box import engine


@pytest.fixture
def left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "docker.pid"
    monkeypatch.setattr(engine, "LEFTOVERS", {path: Path(f"/proc/{os.getpid()}/comm").read_text().strip()})
    return path


def test_a_pid_file_of_a_process_that_is_gone_is_removed(left: Path) -> None:
    left.write_text("4194304")
    assert engine.remove_leftovers() == [left]
    assert not left.exists()


def test_a_pid_file_whose_number_is_another_program_s_now_is_removed(left: Path) -> None:
    left.write_text("1")
    assert engine.remove_leftovers() == [left]


def test_an_empty_pid_file_is_removed(left: Path) -> None:
    left.write_text("")
    assert engine.remove_leftovers() == [left]


def test_a_pid_file_of_the_living_daemon_stays(left: Path) -> None:
    left.write_text(f"{os.getpid()}\n")
    assert engine.remove_leftovers() == []
    assert left.exists()


def test_without_a_client_there_is_no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert engine.version() == ""
    assert "install Debian's docker.io" in engine.for_a_user()
