"""The same model, prompts and machine: the bare engine, our guest in its container, and the whole run up to the score.

The bare engine (``bare.py``, none of our code) runs in the guest's image and in as many threads. Guest: from the start
of the container to its end. Whole run: from the submission to the score. 2,000 items take about ten minutes a round
on two cores; ``HELDOUT_BENCH_ITEMS`` asks for fewer, where the fixed costs weigh more.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

from bench import bare
from bench.report import Aim, Comparison, Figure, ratio

ITEMS = int(os.environ.get("HELDOUT_BENCH_ITEMS", "2000"))
MOST_TOKENS, BATCH = 12, 16


def compare(rounds: int) -> Comparison:
    from bench import guest_run  # noqa: PLC0415  it starts the tests' installation when imported

    stage = guest_run.prepare(ITEMS, MOST_TOKENS, BATCH)
    seconds: dict[str, list[float]] = {"bare": [], "guest": [], "whole": [], "first token": []}
    for _ in range(rounds):
        seconds["bare"].append(_bare(stage.image, stage.model, stage.messages, stage.threads))
        run = guest_run.one_run(stage)
        seconds["guest"].append(run.guest)
        seconds["whole"].append(run.whole)
        seconds["first token"].append(run.first_output)
    figures = {name: Figure(name, "s", tuple(values)) for name, values in seconds.items()}
    over = ratio(figures["guest"], figures["bare"])
    whole = ratio(figures["whole"], figures["bare"])
    return Comparison(
        "guest", f"SmolLM2 on {ITEMS} items, {MOST_TOKENS} tokens at most, {stage.threads} threads",
        list(figures.values()),
        [Aim("guest over bare", over, 1.05), Aim("whole run over bare", whole, 1.10)],
        {"engine": "transformers", "bare": "the same image and threads, the library's own generate"},
    )  # fmt: skip


def _bare(image: str, model: Path, messages: list[Any], threads: int) -> float:
    """Wall seconds of a container that does nothing else, its start included like the guest's."""
    job = {"engine": "transformers", "model": "/model", "prompts": messages, "max_tokens": MOST_TOKENS, "batch": BATCH,
           "threads": threads}  # fmt: skip
    command = [
        "docker", "run", "--rm", "--interactive", "--network=none", f"--volume={model}:/model:ro", "--tmpfs=/tmp",
        "--env=HOME=/tmp", "--env=HF_HUB_OFFLINE=1", f"--env=OMP_NUM_THREADS={threads}",
        "--env=TOKENIZERS_PARALLELISM=false", "--entrypoint=/usr/bin/python3.11", image, "-c", bare.source(),
    ]  # fmt: skip
    began = time.monotonic()
    subprocess.run(command, input=json.dumps(job), text=True, capture_output=True, check=True)
    return time.monotonic() - began
