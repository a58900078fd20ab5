"""What the clock does: give expired leases back and repeat hints. Idempotent; two clocks do no more than one.

The database's own time decides, so that hosts with drifting clocks agree.
"""

from __future__ import annotations

from collections.abc import Sequence
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


class Pacer:
    """Remembers which hints were given, so that rows that wait long are not hinted at every sweep.

    A row's first hint was sent when its transaction committed; ours come ``first`` seconds later and then at doubling
    intervals. Kept in memory: a clock that starts anew hints once too often, which is harmless.
    """

    def __init__(self, first: float = 5.0, longest: float = 600.0) -> None:
        self._first, self._longest = first, longest
        self._due: dict[tuple[str, object, object], tuple[float, float]] = {}

    def due(self, keys: Sequence[tuple[str, object, object]], now: float) -> list[tuple[str, object, object]]:
        """Those of ``keys`` whose time has come. Keys that are no longer named are forgotten."""
        fresh = {key: self._due.get(key, (now + self._first, self._first)) for key in keys}
        ready = [key for key, (at, _) in fresh.items() if at <= now]
        for key in ready:
            wait = min(fresh[key][1] * 2, self._longest)
            fresh[key] = (now + wait, wait)
        self._due = fresh
        return ready


def sweep(pacer: Pacer, now: float) -> Sweep:
    """One round. ``now`` is a monotonic clock in seconds and paces hints only."""
    returned = ended = 0
    for run in Run.objects.filter(state__in=[State.RUNNING, State.GRADING], lease_until__lt=Now()):
        try:
            final = _give_back(run)
        except Stale:
            continue  # its worker finished or another clock was quicker
        returned, ended = returned + (not final), ended + final
    ready = pacer.due(_waiting(), now)
    for queue, row_id, _ in ready:
        hints.send(queue, row_id)  # type: ignore[arg-type]  # the keys hold row ids
    return Sweep(returned, ended, len(ready))


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


def _waiting() -> list[tuple[str, object, object]]:
    """(queue, row, what makes its waiting new): rows that a worker could take now, the oldest hundred of each kind."""
    ready = Q(not_before=None) | Q(not_before__lte=Now())
    keys: list[tuple[str, object, object]] = []
    for state, queue in ((State.QUEUED, "runner"), (State.SEALED, "grader")):
        rows = Run.objects.filter(ready, state=state).order_by("queued_at").values_list("pk", "fence")
        keys += [(queue, row_id, fence) for row_id, fence in rows[:100]]
    free = Q(checking_until=None) | Q(checking_until__lt=Now())
    uploads = Upload.objects.filter(free, state=Upload.State.CHECKING).order_by("closed_at")
    keys += [("web", row_id, until) for row_id, until in uploads.values_list("pk", "checking_until")[:100]]
    return keys
