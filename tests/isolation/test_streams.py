"""The engine's multiplexed stream and the kernel's memory counters, in every form they come in."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluator.isolation.docker_tier import Demultiplexer
from evaluator.isolation.memory import MemoryEvents


def part(stream: int, data: bytes) -> bytes:
    return bytes([stream, 0, 0, 0]) + len(data).to_bytes(4, "big") + data


@pytest.mark.parametrize("size", [1, 3, 8, 9, 1000])
def test_both_outputs_come_apart_in_pieces_of_any_size(size: int) -> None:
    data = part(1, b"one") + part(2, b"") + part(2, b"two") + part(1, "naïve".encode())
    streams, said = Demultiplexer(), {1: b"", 2: b""}
    for start in range(0, len(data), size):
        for stream, piece in streams.feed(data[start : start + size]):
            said[stream] += piece
    assert said == {1: "onenaïve".encode(), 2: b"two"}


def machine(root: Path, groups: str, files: dict[str, str]) -> MemoryEvents:
    (root / "proc" / "7").mkdir(parents=True)
    (root / "proc" / "7" / "cgroup").write_text(groups)
    for name, text in files.items():
        path = root / "cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return MemoryEvents(7, proc=root / "proc", cgroups=root / "cgroup")


def test_it_reads_version_one(tmp_path: Path) -> None:
    files = {"memory/docker/x/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n"}
    files |= {"memory/docker/x/memory.max_usage_in_bytes": "4096\n"}
    found = machine(tmp_path, "5:cpu:/docker/x\n4:memory:/docker/x\n0::/docker/x\n", files)
    found.read()
    assert (found.kills, found.peak) == (2, 4096)


def test_it_reads_version_two(tmp_path: Path) -> None:
    files = {"system.slice/x/memory.events": "low 0\noom 1\noom_kill 1\noom_group_kill 0\n"}
    files |= {"system.slice/x/memory.peak": "8192\n"}
    found = machine(tmp_path, "0::/system.slice/x\n", files)
    found.read()
    assert (found.kills, found.peak) == (1, 8192)


def test_the_last_reading_counts_when_the_group_is_gone(tmp_path: Path) -> None:
    found = machine(tmp_path, "0::/x\n", {"x/memory.events": "oom_kill 3\n"})
    found.read()
    (tmp_path / "cgroup" / "x" / "memory.events").unlink()
    found.read()
    assert found.kills == 3


def test_nothing_found_is_said(tmp_path: Path) -> None:
    found = machine(tmp_path, "0::/x\n", {})
    found.read()
    assert (found.found, found.kills, found.peak) == (False, 0, None)
