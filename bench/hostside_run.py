"""One run of ``hostside``, in the tests' installation."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"

import django

django.setup()

from bench.hostside import cpu_of, tree
from box import daemons, postgres
from leaderboard.models import Run
from tests import services, stage
from tests.installation import STATE
from tests.processes import EVALUATING, reaches, start


@dataclass(frozen=True)
class Cost:
    parts: dict[str, float]
    sealed: int

    @property
    def cpu(self) -> float:
        return sum(self.parts.values())


def one_run(count: int) -> Cost:
    services.empty()
    start(*EVALUATING, "web")
    before = _spent()
    with tempfile.TemporaryDirectory() as folder:
        run = stage.a_run(Path(folder) / "says-42", stage.items(right=count - 500, wrong=500, practice=0))
        reaches(run, "scored", "void", "failed", seconds=600)
    after = _spent()
    grade = Run.objects.get(pk=run.pk).grades.get()
    packs = (Run.objects.get(pk=run.pk).outputs_sealed, grade.verdicts_sealed)
    sealed = sum(stage.pack_path(pack).stat().st_size for pack in packs)
    return Cost({name: after[name] - before[name] for name in before}, sealed)


def _spent() -> dict[str, float]:
    pids = {name: daemons.pid(STATE, name) for name in (*EVALUATING, "web", "valkey")} | {
        "postgres": postgres.pid(STATE)
    }
    return {name: sum(cpu_of(each) for each in tree(pid)) for name, pid in pids.items() if pid is not None}
