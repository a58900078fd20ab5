"""Memory events of a guest's control group: how often the kernel killed in it, and its peak.

The engine's own flag says only whether the first process was killed; a child can die while its parent lives on. The
files vanish with the guest, so they are read while it lives and the last reading counts.
"""

from __future__ import annotations

from pathlib import Path

CGROUPS = Path("/sys/fs/cgroup")


class MemoryEvents:
    """Counters of the control group that a process is in; nothing found means nothing counted, not zero kills."""

    def __init__(self, pid: int | None, *, proc: Path = Path("/proc"), cgroups: Path = CGROUPS) -> None:
        self.kills = 0
        self.peak: int | None = None
        self._events, self._peak = _files(pid, proc, cgroups) if pid else (None, None)

    @property
    def found(self) -> bool:
        return self._events is not None

    def read(self) -> None:
        """Take a reading. What is gone keeps its last one."""
        for line in _text(self._events).splitlines():
            name, _, count = line.partition(" ")
            if name == "oom_kill":
                self.kills = max(self.kills, int(count))
        peak = _text(self._peak).strip()
        if peak.isdecimal():
            self.peak = max(self.peak or 0, int(peak))


def _files(pid: int, proc: Path, cgroups: Path) -> tuple[Path | None, Path | None]:
    """Version 1 keeps them in the memory controller's tree, version 2 in the one tree."""
    for line in _text(proc / str(pid) / "cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        inside = path.lstrip("/")
        if "memory" in controllers.split(","):
            folder = cgroups / "memory" / inside
            return _existing(folder / "memory.oom_control"), _existing(folder / "memory.max_usage_in_bytes")
        if not controllers and _existing(cgroups / inside / "memory.events"):
            return cgroups / inside / "memory.events", _existing(cgroups / inside / "memory.peak")
    return None, None


def _existing(path: Path) -> Path | None:
    return path if path.exists() else None


def _text(path: Path | None) -> str:
    if path is None:
        return ""
    try:
        return path.read_text(encoding="ascii")
    except OSError:
        return ""
