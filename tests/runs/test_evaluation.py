"""A checkpoint in a real container, from queued to scored, with the processes of an installation."""

from __future__ import annotations

from pathlib import Path

import pytest

from leaderboard.models import Run
from tests import stage
from tests.processes import EVALUATING, reaches, running

pytestmark = [pytest.mark.usefixtures("database"), pytest.mark.engine]


def test_the_outputs_of_a_run_are_sealed(tmp_path: Path) -> None:
    run = stage.a_run(tmp_path / "says-42", stage.items(right=6, wrong=2))
    with running("launcher", "runner", "clock"):
        assert reaches(run, "sealed", "void", "failed") == "sealed"
    run = Run.objects.get(pk=run.pk)
    attempt = run.attempts.get()
    assert attempt.ending == "sealed"
    assert attempt.runspec_digest == run.runspec_digest
    assert {control["name"]: control["passed"] for control in attempt.facts["controls"]} == {
        "canary": True,
        "repeat": True,
        "limit": True,
        "context": True,
    }
    assert run.practice_results.count() == 2


def test_a_run_is_scored_exactly(tmp_path: Path) -> None:
    run = stage.a_run(tmp_path / "says-42", stage.items(right=6, wrong=2))
    with running(*EVALUATING):
        assert reaches(run, "scored", "void", "failed") == "scored"
    released = Run.objects.get(pk=run.pk).released
    assert str(released.score) == "0.750000"
    assert (released.items, released.valid, released.ranked) == (8, 8, True)
    assert str(released.practice_score) == "1.000000"
    assert released.scorecard_digest == run.grades.get().scorecard_digest
