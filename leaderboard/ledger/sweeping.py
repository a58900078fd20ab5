"""What the clock does: give expired leases back and repeat hints. Idempotent; two clocks do no more than one.

The database's own time decides, so that hosts with drifting clocks agree.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from evaluator.errors import Stale
from evaluator.records.lifecycle import State
from leaderboard import hints
from leaderboard.ledger import runs
from leaderboard.ledger.guard import move
from leaderboard.models import Attempt, Run, Upload


@dataclass(frozen=True)
class Sweep:
    """How many rows were given back, ended, and hinted again."""

    returned: int
    ended: int
    hinted: int


def sweep() -> Sweep:
    returned = ended = 0
    for run in Run.objects.filter(state__in=[State.RUNNING, State.GRADING], lease_until__lt=Now()):
        try:
            final = _give_back(run)
        except Stale:
            continue  # its worker finished or another clock was quicker
        returned, ended = returned + (not final), ended + final
    return Sweep(returned, ended, _hint_again())


def _give_back(run: Run) -> bool:
    """Take one expired lease back. Whether the run is over with that."""
    state = State(run.state)
    code = "worker-lost"
    used = run.attempt if state is State.RUNNING else run.grading_attempt
    with transaction.atomic():
        if Run.objects.filter(pk=run.pk, fence=run.fence, state=state, lease_until__lt=Now()).count() != 1:
            raise Stale(str(run.pk))
        Attempt.objects.filter(run=run, fence=run.fence, ended_at=None).update(ended_at=Now(), ending=code)
        if state is State.RUNNING and run.cancel_requested_at is not None:
            move("cancel", run.pk, state, reason="cancelled", lease_owner="", lease_until=None)
            return True
        if used >= settings.MAX_ATTEMPTS:
            runs._void(run.pk, state, code, None)
            return True
        runs.move_back(run.pk, state, code)
        return False


def _hint_again() -> int:
    """Lost messages: say again what waits. A hint too many is harmless; the claim decides."""
    ready = Q(not_before=None) | Q(not_before__lte=Now())
    count = 0
    for state, queue in ((State.QUEUED, "runner"), (State.SEALED, "grader")):
        for run_id in Run.objects.filter(ready, state=state).order_by("queued_at").values_list("pk", flat=True)[:100]:
            hints.send(queue, run_id)
            count += 1
    stuck = Q(checking_until=None) | Q(checking_until__lt=Now())
    old = Upload.objects.filter(stuck, state="checking", closed_at__lt=Now() - dt.timedelta(seconds=5))
    for upload_id in old.values_list("pk", flat=True)[:100]:
        hints.send("web", upload_id)
        count += 1
    return count
