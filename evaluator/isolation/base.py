"""The contract of an isolation tier, so that other tiers (gVisor, bubblewrap, Kubernetes) can stand beside this one.

Rules for every tier:

1. ``offer`` says what would be made, before anything is. ``prepare`` makes the guest but runs nothing of it, and
   compares the effective configuration with the specification: any difference is a ``Fault`` and the guest is removed.
2. ``start`` runs it. From then on ``receive`` and ``send`` move bytes without blocking.
3. ``kill`` ends every process of the guest at once, whatever state it is in. It may be called at any time, twice too.
4. ``exit_facts`` may be asked once nothing runs any more, before ``remove``.
5. ``remove`` leaves nothing behind. ``reap`` removes what a dead launcher of the same installation left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

MIB = 1 << 20
GIB = 1 << 30

STDOUT, STDERR = 1, 2


@dataclass(frozen=True)
class Limits:
    """What one guest may use. Bytes, counts and seconds."""

    memory: int = 6 * GIB
    """Ceiling of the whole guest, its temporary files included. Swap is none."""
    pids: int = 256
    """Processes and threads. vLLM needs about eighty."""
    cpus: str = "2"
    """Cores as decimal text."""
    threads: int = 1
    """Threads of the engine: one fewer than the cores is fastest, because spinning threads hinder each other."""
    scratch: int = 256 * MIB
    """Size of /tmp."""
    shm: int = 256 * MIB
    """Size of /dev/shm."""
    wall: int = 3600
    """From start to the end, kill included."""
    input_bytes: int = 256 * MIB
    output_bytes: int = 1 * GIB
    stderr_kept: int = 32 << 10
    """How much of the end of standard error is kept."""


@dataclass(frozen=True)
class LaunchFacts:
    """Everything a container is built from: read by the launcher itself from the claimed row, never from a request."""

    run: str
    attempt: int
    fence: int
    manifest: Mapping[str, Any]
    engine: str
    image_digest: str
    limits: Limits = field(default_factory=Limits)
    gpu: str | None = None
    """UUID of the one GPU it gets, or nothing."""


@dataclass(frozen=True)
class Offer:
    """What the launcher will create for a run, by its own account: the runner fixes its RunSpec with it, before the
    start. Values are scalars; nothing in it names a run or a machine."""

    image: str
    engine_flags: Mapping[str, str | int | bool]
    runtime: Mapping[str, str]
    network: str
    seccomp: str
    """Digest of the seccomp profile."""
    spec: str
    """Digest of the container's specification, but for run, attempt and paths."""
    guaranteed: Mapping[str, str | int | bool]
    maximum: Mapping[str, str | int | bool]


@dataclass(frozen=True)
class ExitFacts:
    """How a guest ended, as its tier saw it."""

    code: int | None
    oom: bool
    evidence: tuple[str, ...] = ()
    """Where the memory kill was seen: ``events``, ``cgroup``, ``flag``. The flag alone misses a killed child."""
    peak_memory: int | None = None


class Guest(Protocol):
    """One prepared guest."""

    name: str

    def start(self) -> None: ...

    def fileno(self) -> int:
        """Readable when ``receive`` has something; may be polled for writing too."""

    def receive(self) -> list[tuple[int, bytes]] | None:
        """What came since, as (``STDOUT`` or ``STDERR``, bytes); ``None`` once both have ended."""

    def send(self, data: bytes | memoryview) -> int:
        """Hand over what fits of ``data`` and say how much; raises ``BrokenPipeError`` once the guest is deaf."""

    def close_input(self) -> None: ...

    def observe(self) -> None:
        """Look at counters that vanish with the guest. Called about twice a second."""

    def kill(self) -> None: ...

    def exit_facts(self) -> ExitFacts: ...

    def remove(self) -> None: ...


class Tier(Protocol):
    """One way to isolate a guest."""

    name: str

    def offer(self, facts: LaunchFacts) -> Offer:
        """What ``prepare`` would make. Versions of what isolates are reported, not refused: distributions carry their
        fixes under old numbers."""

    def prepare(self, facts: LaunchFacts, checkpoint: Path) -> Guest: ...

    def reap(self, living: Sequence[str] = ()) -> list[str]:
        """Remove leftovers of this installation but for the ``living``; return their names."""
