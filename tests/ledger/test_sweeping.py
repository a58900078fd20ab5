"""The clock gives back what a dead worker held, and only that."""

from __future__ import annotations

import datetime as dt

import pytest
from django.db.models.functions import Now

from evaluator.errors import Stale
from evaluator.records.lifecycle import State
from leaderboard.ledger import runs
from leaderboard.ledger.sweeping import Pacer, sweep
from leaderboard.models import Attempt, QuotaEntry, Run
from tests import factories
from tests.services import as_identity

pytestmark = pytest.mark.usefixtures("database")


def expire(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(lease_until=Now() - dt.timedelta(seconds=1))


def claimed(run: Run) -> runs.Claim:
    with as_identity("runner"):
        claim = runs.claim(run.pk, "worker")
    assert claim is not None
    return claim


def test_it_returns_an_expired_lease_and_shuts_the_old_worker_out() -> None:
    run = factories.a_run()
    claim = claimed(run)
    expire(run)
    with as_identity("clock"):
        assert sweep(Pacer(), 0).returned == 1
    run.refresh_from_db()
    assert (run.state, run.reason, run.lease_owner) == ("queued", "worker-lost", "")
    with as_identity("runner"), pytest.raises(Stale):
        runs.seal(claim, runspec="", outputs="", sealed="", facts={})


def test_it_leaves_a_live_lease_alone() -> None:
    run = factories.a_run()
    claimed(run)
    with as_identity("clock"):
        assert sweep(Pacer(), 0).returned == 0
    assert Run.objects.get(pk=run.pk).state == "running"


def test_the_last_lost_attempt_is_void_and_refunded(settings: object) -> None:
    settings.MAX_ATTEMPTS = 1  # type: ignore[attr-defined]
    run = factories.a_run()
    claimed(run)
    expire(run)
    with as_identity("clock"):
        assert sweep(Pacer(), 0).ended == 1
        assert sweep(Pacer(), 0).ended == 0
    assert Run.objects.get(pk=run.pk).state == "void"
    assert QuotaEntry.objects.filter(kind="refund").count() == 1
    assert Attempt.objects.get().ending == "worker-lost"


def test_a_cancelled_run_whose_worker_died_is_cancelled() -> None:
    run = factories.a_run()
    claimed(run)
    with as_identity("web"):
        assert runs.request_cancel(run.pk, run.submission.submitted_by_id) is State.RUNNING
    expire(run)
    with as_identity("clock"):
        assert sweep(Pacer(), 0).ended == 1
    assert Run.objects.get(pk=run.pk).state == "cancelled"


def test_hints_are_repeated_ever_more_rarely() -> None:
    pacer, key = Pacer(first=5, longest=40), ("runner", "row", 1)
    given = [second for second in range(200) if pacer.due([key], second)]
    assert given == [5, 15, 35, 75, 115, 155, 195]


def test_a_row_that_waits_anew_is_hinted_anew() -> None:
    pacer = Pacer(first=5)
    assert not pacer.due([("runner", "row", 1)], 0)
    assert pacer.due([("runner", "row", 1)], 5)
    assert not pacer.due([("runner", "row", 2)], 6)
    assert pacer.due([("runner", "row", 2)], 11)
