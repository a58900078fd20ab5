"""How long ``heldout --help`` takes, beside an empty Python."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

from bench.report import Aim, Comparison, Figure, ratio
from box.state import here


def compare(rounds: int) -> Comparison:
    python = here().python("web")
    contenders = {
        "python -c pass": [str(python), "-c", "pass"],
        "heldout --help": [str(Path(python).parent / "heldout"), "--help"],
    }
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(max(rounds, 7)):
        for name, command in contenders.items():
            seconds[name].append(_seconds(command))
    empty, ours = (Figure(name, "s", tuple(values)) for name, values in seconds.items())
    return Comparison(
        "command", "cold start of the submitter's command line", [empty, ours],
        [Aim("heldout --help, seconds", ours.median, 0.3)], {"ratio to an empty Python": round(ratio(ours, empty), 2)},
    )  # fmt: skip


def _seconds(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start
