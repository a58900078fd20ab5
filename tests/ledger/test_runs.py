"""A run moves along its table, once, under one claim; and the database agrees when Python does not ask."""

from __future__ import annotations

import threading

import pytest
from django.db import DatabaseError, connection, transaction
from django.db.models import F
from django.db.models.functions import Now

from evaluator.errors import Stale
from evaluator.records.lifecycle import State
from leaderboard.ledger import quota, runs
from leaderboard.ledger.guard import move, present_fence
from leaderboard.models import Attempt, LogEntry, QuotaEntry, Run
from tests import factories
from tests.services import as_identity

pytestmark = pytest.mark.usefixtures("database")


def state_of(run: Run) -> str:
    return Run.objects.values_list("state", flat=True).get(pk=run.pk)


def test_it_gives_a_queued_run_to_exactly_one_of_eight_workers() -> None:
    run = factories.a_run()
    claims: list[runs.Claim | None] = []

    def take(number: int) -> None:
        claims.append(runs.claim(run.pk, f"worker-{number}"))
        connection.close()

    with as_identity("runner"):
        threads = [threading.Thread(target=take, args=(number,)) for number in range(8)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
    assert sum(claim is not None for claim in claims) == 1
    assert Attempt.objects.filter(run=run).count() == 1


def test_it_refuses_a_heartbeat_under_an_old_claim() -> None:
    run = factories.a_run()
    with as_identity("runner"):
        old = runs.claim(run.pk, "first")
        runs.give_back(old, State.RUNNING, "engine/died")
    Run.objects.filter(pk=run.pk).update(not_before=None)
    with as_identity("runner"):
        assert runs.claim(run.pk, "second") is not None
        with pytest.raises(Stale):
            runs.heartbeat(old, State.RUNNING)


def test_the_database_itself_refuses_a_stale_token() -> None:
    run = factories.a_run()
    with as_identity("runner"):
        claim = runs.claim(run.pk, "worker")
        with transaction.atomic():
            present_fence(claim.fence - 1)
            with pytest.raises(DatabaseError, match="stale fencing token"):
                Run.objects.filter(pk=run.pk).update(progress_done=5)
            transaction.set_rollback(True)


@pytest.mark.parametrize("target", ["sealed", "grading", "scored", "failed", "void"])
def test_the_database_refuses_a_move_that_is_not_in_the_table(target: str) -> None:
    run = factories.a_run()
    with as_identity("runner"), pytest.raises(DatabaseError, match="may not move a run"):
        Run.objects.filter(pk=run.pk).update(state=target)
    assert state_of(run) == "queued"


def test_the_web_can_not_claim_a_run() -> None:
    run = factories.a_run()
    with as_identity("web"), pytest.raises(DatabaseError):
        Run.objects.filter(pk=run.pk).update(state="running")


def test_a_move_of_the_table_is_refused_to_another_identity() -> None:
    run = factories.a_run()
    with as_identity("clock"), pytest.raises(DatabaseError, match="heldout_clock may not move"):
        Run.objects.filter(pk=run.pk).update(state="running", fence=F("fence") + 1)


def test_a_move_under_an_old_claim_finds_nothing_to_move() -> None:
    run = factories.a_run()
    with as_identity("runner"):
        old = runs.claim(run.pk, "first")
        runs.give_back(old, State.RUNNING, "engine/died")
        Run.objects.filter(pk=run.pk).update(not_before=None)
        runs.claim(run.pk, "second")
        with pytest.raises(Stale), transaction.atomic():
            move("reject", run.pk, State.RUNNING, claim=old)
    assert state_of(run) == "running"


def test_a_second_refund_changes_nothing() -> None:
    run = factories.a_run()
    with as_identity("clock"):
        quota.refund(run.submission_id, "first")
        quota.refund(run.submission_id, "second")
    assert QuotaEntry.objects.get(kind="refund").reason == "first"


def test_a_claim_must_raise_the_fence() -> None:
    run = factories.a_run()
    with as_identity("runner"), pytest.raises(DatabaseError, match="raises the fence"):
        Run.objects.filter(pk=run.pk).update(state="running")


def test_it_voids_and_refunds_once_after_the_last_attempt(settings: object) -> None:
    settings.MAX_ATTEMPTS, settings.RETRY_SECONDS = 2, 0  # type: ignore[attr-defined]
    run = factories.a_run()
    with as_identity("runner"):
        for _ in range(2):
            runs.give_back(runs.claim(run.pk, "worker"), State.RUNNING, "engine/died")
    assert state_of(run) == "void"
    assert sorted(QuotaEntry.objects.values_list("kind", flat=True)) == ["charge", "refund"]
    assert list(Attempt.objects.values_list("ending", flat=True)) == ["engine/died"] * 2


def test_a_rejected_submission_costs_its_slot() -> None:
    run = factories.a_run()
    with as_identity("runner"):
        runs.reject(runs.claim(run.pk, "worker"), "load")
    assert state_of(run) == "failed"
    assert list(QuotaEntry.objects.values_list("kind", flat=True)) == ["charge"]


def test_cancelling_a_queued_run_ends_it_and_refunds() -> None:
    run = factories.a_run()
    user = run.submission.submitted_by_id
    with as_identity("web"):
        assert runs.request_cancel(run.pk, user) is State.CANCELLED
        assert runs.request_cancel(run.pk, user) is State.CANCELLED
    assert QuotaEntry.objects.filter(kind="refund").count() == 1


def test_cancelling_a_running_run_asks_its_worker() -> None:
    run = factories.a_run()
    with as_identity("runner"):
        claim = runs.claim(run.pk, "worker")
    with as_identity("web"):
        assert runs.request_cancel(run.pk, run.submission.submitted_by_id) is State.RUNNING
    with as_identity("runner"):
        assert runs.heartbeat(claim, State.RUNNING).cancel_requested
        runs.cancelled(claim)
    assert state_of(run) == "cancelled"
    assert not QuotaEntry.objects.filter(kind="refund").exists()


def test_a_runspec_is_fixed_once() -> None:
    run = factories.a_run()
    with as_identity("runner"):
        claim = runs.claim(run.pk, "worker")
        runs.fix_runspec(claim, {"a": 1}, factories.a_digest("a"))
        with pytest.raises(Stale):
            runs.fix_runspec(claim, {"a": 2}, factories.a_digest("b"))
        with pytest.raises(DatabaseError, match="fixed once"):
            Attempt.objects.filter(pk=claim.attempt_id).update(runspec={"a": 2}, runspec_digest=factories.a_digest("b"))


def test_a_finished_run_does_not_change() -> None:
    run = factories.a_run()
    with as_identity("runner"):
        runs.reject(runs.claim(run.pk, "worker"), "load")
        with pytest.raises(DatabaseError, match="does not change"):
            Run.objects.filter(pk=run.pk).update(reason="better")


def test_every_move_leaves_its_entry_with_the_real_actor() -> None:
    run = factories.a_run()
    with as_identity("runner"):
        runs.reject(runs.claim(run.pk, "worker"), "load")
    kinds = LogEntry.objects.filter(subject=run.pk).order_by("at").values_list("kind", "actor")
    assert list(kinds) == [("run.claim", "heldout_runner"), ("run.reject", "heldout_runner")]


def test_practice_results_survive_a_nul_and_are_written_once() -> None:
    run = factories.a_run()
    row = {"index": 1, "kind": "exact", "category": "c", "prompt": {"text": "a\x00b"}, "completion": "x\x00y",
           "outcome": "answered", "score": "1", "reason": "equal", "expected": ["x"]}  # fmt: skip
    with as_identity("runner"):
        claim = runs.claim(run.pk, "worker")
        runs.add_practice_results(claim, [row])
        runs.add_practice_results(claim, [row | {"completion": "other"}])
    result = run.practice_results.get()
    assert result.completion == "x␀y"
    assert result.prompt == {"text": "a␀b"}


def test_a_fence_only_rises() -> None:
    run = factories.a_run()
    with as_identity("clock"), pytest.raises(DatabaseError, match="only rise"):
        Run.objects.filter(pk=run.pk).update(fence=F("fence") - 1 + 0 * F("attempt"), lease_until=Now())
