"""What everything but the engine costs: CPU seconds and sealed bytes per 1,000 items, in real processes.

A tiny checkpoint answers 2,000 items with three tokens each, so that the host's share is what is seen. Counted: runner,
launcher, grader, clock, web, PostgreSQL and Valkey, by the kernel's own accounting before and after the run. Not
counted: the guest's container and the engine's daemon.
"""

from __future__ import annotations

import os
from pathlib import Path

from bench.report import Aim, Comparison, Figure

ITEMS = 2000
TICKS = os.sysconf("SC_CLK_TCK")


def compare(rounds: int) -> Comparison:
    """Runs in the installation of the tests: it makes teams and releases of its own there."""
    from bench.hostside_run import one_run  # noqa: PLC0415  it starts the tests' installation when imported

    runs = [one_run(ITEMS) for _ in range(rounds)]
    cpu = Figure("CPU-seconds per 1,000 items", "s", tuple(run.cpu / ITEMS * 1000 for run in runs))
    sealed = Figure("sealed records per 1,000 items", "KB", tuple(run.sealed / ITEMS for run in runs))
    parts = [Figure(f"  {name}", "s", tuple(run.parts[name] / ITEMS * 1000 for run in runs)) for name in runs[0].parts]
    return Comparison(
        "hostside", f"a run of {ITEMS} items, everything but the engine", [cpu, *parts, sealed],
        [Aim("CPU-seconds per 1,000 items", cpu.median, 1.0), Aim("sealed KB per 1,000 items", sealed.median, 300.0)],
    )  # fmt: skip


def cpu_of(pid: int) -> float:
    """CPU seconds of a process and its ended children."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(int(fields[number]) for number in (11, 12, 13, 14)) / TICKS


def tree(pid: int) -> list[int]:
    """A process and its living descendants."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(found for child in children for found in tree(int(child)))]
