"""A run from queued to sealed: claimed, kept alive, sealed; or returned, rejected, voided, cancelled."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Now

from evaluator.errors import Stale
from evaluator.records.lifecycle import State
from leaderboard import hints
from leaderboard.ledger import entries, quota
from leaderboard.ledger.guard import Claim, move, present_fence
from leaderboard.models import Attempt, PracticeResult, Run


def _lease() -> object:
    return Now() + dt.timedelta(seconds=settings.LEASE_SECONDS)


def _start_attempt(run_id: uuid.UUID, kind: str, number: int, fence: int, worker: str) -> Claim:
    attempt = Attempt.objects.create(run_id=run_id, kind=kind, number=number, fence=fence, worker=worker)
    return Claim(run_id, fence, number, attempt.id, worker)


def claim(run_id: uuid.UUID, worker: str) -> Claim | None:
    """Take a queued run. ``None`` where another worker has it, it waits for its time, or it is done."""
    with transaction.atomic():
        ready = Q(not_before=None) | Q(not_before__lte=Now())
        row = Run.objects.select_for_update(of=("self",), skip_locked=True).filter(
            ready, pk=run_id, state=State.QUEUED, cancel_requested_at=None
        )
        found = row.values("fence", "attempt").first()
        if found is None:
            return None
        fence, number = found["fence"] + 1, found["attempt"] + 1
        move(
            "claim", run_id, State.QUEUED,
            fence=fence, attempt=number, lease_owner=worker, lease_until=_lease(), started_at=Now(),
            progress_done=0,
        )  # fmt: skip
        return _start_attempt(run_id, "run", number, fence, worker)


@dataclass(frozen=True)
class Pulse:
    """What a heartbeat brings back."""

    cancel_requested: bool


def heartbeat(claim: Claim, state: State, *, done: int | None = None, total: int | None = None) -> Pulse:
    """Extend the lease. Raises ``Stale`` when the lease was lost: stop working at once."""
    changes: dict[str, object] = {"lease_until": _lease()}
    if done is not None:
        changes["progress_done"] = done
    if total is not None:
        changes["progress_total"] = total
    with transaction.atomic():
        present_fence(claim.fence)
        rows = Run.objects.filter(pk=claim.run_id, state=state, fence=claim.fence, lease_owner=claim.worker)
        if rows.update(**changes) != 1:
            raise Stale(f"the lease on run {claim.run_id} was lost")
    asked = Run.objects.filter(pk=claim.run_id).values_list("cancel_requested_at", flat=True).get()
    return Pulse(cancel_requested=asked is not None)


def fix_runspec(claim: Claim, runspec: Mapping[str, object], digest: str) -> None:
    """Write the RunSpec of this attempt, once, before any hidden prompt is opened."""
    with transaction.atomic():
        rows = Attempt.objects.filter(pk=claim.attempt_id, fence=claim.fence, runspec_digest="")
        if rows.update(runspec=dict(runspec), runspec_digest=digest) != 1:
            raise Stale(f"attempt {claim.attempt} of run {claim.run_id} has its RunSpec already")
        entries.record("run.start", claim.run_id, attempt=claim.attempt, runspec=digest)


def add_practice_results(claim: Claim, results: Iterable[Mapping[str, object]]) -> None:
    """Show practice items as they come. An item that an earlier attempt showed stays as it was."""
    rows = [PracticeResult(run_id=claim.run_id, **{key: _storable(value) for key, value in result.items()})
            for result in results]  # fmt: skip
    PracticeResult.objects.bulk_create(rows, ignore_conflicts=True)


def _storable(value: object) -> object:
    """PostgreSQL text holds no NUL: show U+2400 for it here. The sealed outputs keep the exact text."""
    if isinstance(value, str):
        return value.replace("\x00", "\u2400")
    if isinstance(value, Mapping):
        return {key: _storable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_storable(item) for item in value]
    return value


def seal(claim: Claim, *, runspec: str, outputs: str, sealed: str, facts: Mapping[str, object]) -> None:
    """The outputs are sealed and in the store: hand the run to the grader."""
    with transaction.atomic():
        _end_attempt(claim, "sealed", facts)
        move(
            "seal", claim.run_id, State.RUNNING, claim=claim,
            runspec_digest=runspec, outputs_digest=outputs, outputs_sealed=sealed,
            sealed_at=Now(), lease_owner="", lease_until=None,
        )  # fmt: skip
        entries.record("run.outputs", claim.run_id, runspec=runspec, outputs=outputs, sealed=sealed)
        hints.send_on_commit("grader", claim.run_id)


def _end_attempt(claim: Claim, ending: str, facts: Mapping[str, object] | None = None) -> None:
    changes: dict[str, object] = {"ended_at": Now(), "ending": ending[:80]}
    if facts:
        changes["facts"] = dict(facts)
    rows = Attempt.objects.filter(pk=claim.attempt_id, fence=claim.fence, ended_at=None)
    if rows.update(**changes) != 1:
        raise Stale(f"attempt {claim.attempt} of run {claim.run_id} has ended already")


def give_back(claim: Claim, state: State, code: str, facts: Mapping[str, object] | None = None) -> State:
    """Something of ours broke: queue again while attempts are left, else void and refund. Returns the new state."""
    with transaction.atomic():
        _end_attempt(claim, code, facts)
        if claim.attempt >= settings.MAX_ATTEMPTS:
            return _void(claim.run_id, state, code, claim)
        again = move_back(claim.run_id, state, code, claim=claim)
        hints.send_on_commit("runner" if again is State.QUEUED else "grader", claim.run_id)
        return again


def move_back(run_id: uuid.UUID, state: State, code: str, *, claim: Claim | None = None) -> State:
    after = State.QUEUED if state is State.RUNNING else State.SEALED
    wait = Now() + dt.timedelta(seconds=settings.RETRY_SECONDS)
    move(
        "requeue", run_id, state, claim=claim,
        reason=code[:80], not_before=wait, lease_owner="", lease_until=None, fence=F("fence") + 1,
    )  # fmt: skip
    return after


def _void(run_id: uuid.UUID, state: State, code: str, claim: Claim | None) -> State:
    move("void", run_id, state, claim=claim, reason=code[:80], lease_owner="", lease_until=None)
    _refund(run_id, code)
    return State.VOID


def void(claim: Claim, state: State, code: str, facts: Mapping[str, object] | None = None) -> None:
    """This run can't become a score and it was not the submission's doing (failed controls, say). Refunds."""
    with transaction.atomic():
        _end_attempt(claim, code, facts)
        _void(claim.run_id, state, code, claim)


def reject(claim: Claim, code: str, facts: Mapping[str, object] | None = None) -> None:
    """The submission itself can't be run (its weights don't load, say). Costs quota."""
    with transaction.atomic():
        _end_attempt(claim, code, facts)
        move("reject", claim.run_id, State.RUNNING, claim=claim, reason=code[:80], lease_owner="", lease_until=None)


def cancelled(claim: Claim, facts: Mapping[str, object] | None = None) -> None:
    with transaction.atomic():
        _end_attempt(claim, "cancelled", facts)
        move(
            "cancel", claim.run_id, State.RUNNING, claim=claim,
            reason="cancelled", lease_owner="", lease_until=None,
        )  # fmt: skip


def request_cancel(run_id: uuid.UUID, user_id: uuid.UUID) -> State:
    """Cancel a queued run at once and refund it; ask the worker of a running one to stop. Other states: no effect."""
    with transaction.atomic():
        state = State(Run.objects.values_list("state", flat=True).get(pk=run_id))
        if state is State.QUEUED:
            try:
                move("cancel", run_id, State.QUEUED, reason="cancelled", cancel_requested_at=Now())
            except Stale:
                state = State.RUNNING
            else:
                _refund(run_id, "cancelled before it ran")
                entries.record("run.cancel-request", run_id, user=user_id)
                return State.CANCELLED
        asked = Run.objects.filter(pk=run_id, state=State.RUNNING, cancel_requested_at=None)
        if asked.update(cancel_requested_at=Now()) == 1:
            entries.record("run.cancel-request", run_id, user=user_id)
    return state


def _refund(run_id: uuid.UUID, reason: str) -> None:
    submission_id = Run.objects.values_list("submission_id", flat=True).get(pk=run_id)
    quota.refund(submission_id, reason)


def oldest_queued() -> uuid.UUID | None:
    """The run that has waited longest and may be taken now."""
    ready = Q(not_before=None) | Q(not_before__lte=Now())
    rows = Run.objects.filter(ready, state=State.QUEUED, cancel_requested_at=None).order_by("queued_at", "pk")
    return rows.values_list("pk", flat=True).first()
