"""One run of ``guest``, in the tests' installation."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"

import django

django.setup()

from box import checkpoints, images
from leaderboard.models import Attempt, Preset, Release, User
from leaderboard.models import Checkpoint as CheckpointRow
from tests import factories, services, stage
from tests.installation import STATE
from tests.processes import EVALUATING, reaches, start


@dataclass(frozen=True)
class Stage:
    image: str
    model: Path
    messages: list[Any]
    threads: int
    user: User
    checkpoint: CheckpointRow
    release: Release
    preset: Preset


@dataclass(frozen=True)
class Timed:
    """Seconds: the guest's container, submit to score, and submit to the first hidden answer."""

    guest: float
    whole: float
    first_output: float


def prepare(count: int, most_tokens: int, batch: int) -> Stage:
    services.empty()
    start(*EVALUATING)
    model = checkpoints.smollm2(STATE)
    user, team, benchmark = factories.a_user(), factories.a_team(), factories.a_benchmark(daily_limit=1000)
    whole = [
        stage.item(index, "42", text=f"What is {index} plus {index % 7}? Say the number.") for index in range(count)
    ]
    options = {"max_tokens": most_tokens, "batch": {"policy": "length-sorted", "size": batch}}
    return Stage(
        image=images.recorded(STATE)["transformers"]["id"], model=model.resolve(),
        messages=[item["messages"] for item in whole], threads=max(1, (os.cpu_count() or 2) - 1), user=user,
        checkpoint=stage.admitted(team, user, model), release=stage.a_release(benchmark, whole),
        preset=factories.a_preset(benchmark, **options),
    )  # fmt: skip


def one_run(made: Stage) -> Timed:
    began = time.monotonic()
    run = stage.submit(made.user, made.checkpoint, made.release, made.preset)
    reaches(run, "scored", "void", "failed", seconds=3600)
    whole = time.monotonic() - began
    facts = Attempt.objects.get(run=run, kind="run").facts
    waited = (Attempt.objects.get(run=run, kind="run").started_at - run.queued_at).total_seconds()
    return Timed(facts["wall_ms"] / 1000, whole, waited + facts["first_output_ms"] / 1000)
