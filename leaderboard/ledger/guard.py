"""The one form every transition of a run has."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from django.db import connection
from django.db.models.functions import Now

from evaluator.errors import Stale
from evaluator.records import lifecycle
from evaluator.records.lifecycle import State
from leaderboard.ledger import entries
from leaderboard.models import Run


@dataclass(frozen=True)
class Claim:
    """What a worker holds while it works on a run. ``fence`` proves it to the database."""

    run_id: uuid.UUID
    fence: int
    attempt: int
    attempt_id: uuid.UUID
    worker: str


def present_fence(fence: int) -> None:
    """Tell the trigger, for this transaction, under which token we write."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('heldout.fence', %s, true)", [str(fence)])


def move(name: str, run_id: uuid.UUID, before: State, *, claim: Claim | None = None, **changes: object) -> None:
    """Make the move ``name`` out of ``before``, or raise ``Stale`` and change nothing.

    Call inside a transaction. With a ``claim`` the row must still carry its token.
    """
    after = lifecycle.find(name, before).after
    rows = Run.objects.filter(pk=run_id, state=before)
    if claim is not None:
        present_fence(claim.fence)
        rows = rows.filter(fence=claim.fence, lease_owner=claim.worker)
    if after.final:
        changes.setdefault("finished_at", Now())
    if rows.update(state=after.value, **changes) != 1:
        raise Stale(f"run {run_id} is no longer {before} under this claim; {name} was not made")
    entries.record(f"run.{name}", run_id, before=before.value, after=after.value, reason=changes.get("reason", ""))
