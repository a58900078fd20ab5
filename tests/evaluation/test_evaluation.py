"""A checkpoint in a real container, from queued to its end, with the processes of an installation."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from leaderboard.ledger import runs
from leaderboard.models import QuotaEntry, Run
from tests import stage
from tests.checkpoints import CHATML
from tests.processes import containers_of, reaches, start, state_of, stop, until
from tests.services import as_identity

pytestmark = [pytest.mark.usefixtures("evaluating"), pytest.mark.engine]


def test_a_run_is_scored_exactly_and_replays(tmp_path: Path) -> None:
    run = stage.a_run(tmp_path / "says-42", stage.items(right=6, wrong=2))
    assert reaches(run, "scored", "void", "failed") == "scored"
    run = Run.objects.get(pk=run.pk)
    assert str(run.released.score) == "0.750000"
    assert (run.released.items, run.released.valid, run.released.ranked) == (8, 8, True)
    assert str(run.released.practice_score) == "1.000000"
    assert [result.score for result in run.practice_results.order_by("index")] == ["1", "1"]
    assert "The grade replays to the same digests." in stage.replay(run).stdout


def test_an_attempt_keeps_its_runspec_and_what_the_guest_reported(tmp_path: Path) -> None:
    run = stage.a_run(tmp_path / "says-42", stage.items(right=1, wrong=1))
    assert reaches(run, "scored", "void", "failed") == "scored"
    run = Run.objects.get(pk=run.pk)
    attempt = run.attempts.get(kind="run")
    assert attempt.runspec_digest == run.runspec_digest
    assert attempt.runspec["checkpoint"]["manifest"] == run.submission.checkpoint.manifest_digest
    assert attempt.runspec["isolation"]["network"] == "none"
    controls = {control["name"]: control["passed"] for control in attempt.facts["controls"]}
    assert controls == {"canary": True, "limit": True, "context": True, "repeat": True}


def test_a_template_that_writes_the_date_is_rendered_as_at_intake(tmp_path: Path) -> None:
    dated = "{{ strftime_now('%d %b %Y') }}" + CHATML
    run = stage.a_run(tmp_path / "dated", stage.items(right=1, wrong=1), lies={"template": dated})
    assert reaches(run, "scored", "void", "failed") == "scored"


def test_a_completion_preset_asks_without_the_template(tmp_path: Path) -> None:
    whole = stage.bare(stage.items(right=1, wrong=1))
    run = stage.a_run(tmp_path / "says-42", whole, mode="completion")
    assert reaches(run, "scored", "void", "failed") == "scored"


def test_one_flipped_byte_of_a_checkpoint_stops_the_run(tmp_path: Path) -> None:
    stop("runner")
    run = stage.a_run(tmp_path / "flipped", stage.items(right=1, wrong=1))
    with stage.flipped(stage.folder_of(run.submission.checkpoint) / "model.safetensors"):
        start("runner")
        assert reaches(run, "scored", "void", "failed") == "void"
    assert Run.objects.get(pk=run.pk).reason == "integrity"
    assert QuotaEntry.objects.filter(kind="refund").count() == 1


def test_cancelling_ends_the_container_within_ten_seconds(tmp_path: Path) -> None:
    run = stage.a_run(tmp_path / "long", stage.items(right=600, wrong=0), says=None, max_tokens=200)
    until(lambda: bool(containers_of(run)), 60)
    began = time.monotonic()
    with as_identity("web"):
        runs.request_cancel(run.pk, run.submission.submitted_by_id)
    until(lambda: not containers_of(run), 10)
    assert time.monotonic() - began < 10
    assert reaches(run, "cancelled", "scored", seconds=5) == "cancelled"


def test_a_rival_s_run_does_not_wait_for_a_cancelled_one(tmp_path: Path) -> None:
    first = stage.a_run(tmp_path / "long", stage.items(right=600, wrong=0), says=None, max_tokens=200)
    until(lambda: state_of(first) == "running", 60)
    second = stage.again_for(first)
    with as_identity("web"):
        runs.request_cancel(first.pk, first.submission.submitted_by_id)
        runs.request_cancel(second.pk, second.submission.submitted_by_id)
    assert reaches(first, "cancelled") == "cancelled"
    assert state_of(second) == "cancelled"
    assert QuotaEntry.objects.filter(kind="refund").count() == 1


def test_replaying_names_a_flipped_byte_of_the_stored_outputs(tmp_path: Path) -> None:
    run = stage.a_run(tmp_path / "says-42", stage.items(right=2, wrong=1))
    assert reaches(run, "scored", "void", "failed") == "scored"
    with stage.flipped(stage.pack_path(Run.objects.get(pk=run.pk).outputs_sealed)):
        done = stage.replay(run)
    assert done.returncode == 1
    assert "FAIL  outputs" in done.stdout


def test_no_container_is_left_behind() -> None:
    assert containers_of() == []
