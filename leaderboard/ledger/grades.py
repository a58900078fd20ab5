"""A run from sealed to scored: claimed by a grader, graded, released."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from evaluator.records.lifecycle import State
from leaderboard.ledger import entries
from leaderboard.ledger.guard import Claim, move, present_fence
from leaderboard.ledger.runs import _end_attempt, _lease, _start_attempt
from leaderboard.models import Grade, ReleasedScore, Run


def claim(run_id: uuid.UUID, worker: str) -> Claim | None:
    """Take a sealed run for grading. ``None`` where another grader has it or it is graded."""
    with transaction.atomic():
        ready = Q(not_before=None) | Q(not_before__lte=Now())
        row = Run.objects.select_for_update(of=("self",), skip_locked=True).filter(ready, pk=run_id, state=State.SEALED)
        found = row.values("fence", "grading_attempt").first()
        if found is None:
            return None
        fence, number = found["fence"] + 1, found["grading_attempt"] + 1
        move(
            "claim", run_id, State.SEALED,
            fence=fence, grading_attempt=number, lease_owner=worker, lease_until=_lease(),
        )  # fmt: skip
        return _start_attempt(run_id, "grade", number, fence, worker)


@dataclass(frozen=True)
class Result:
    """What a grader brings: columns of ``Grade`` and of ``ReleasedScore``."""

    grade: Mapping[str, object]
    released: Mapping[str, object]


def record(claim: Claim, result: Result) -> None:
    """Write grade and released score and finish the run, all in one transaction or not at all."""
    with transaction.atomic():
        present_fence(claim.fence)
        _end_attempt(claim, "graded")
        Grade.objects.create(run_id=claim.run_id, **result.grade)
        ReleasedScore.objects.create(run_id=claim.run_id, **result.released)
        move("grade", claim.run_id, State.GRADING, claim=claim, lease_owner="", lease_until=None)
        entries.record(
            "run.score", claim.run_id,
            scorecard=result.grade["scorecard_digest"], grader=result.grade["grader_digest"],
            verdicts=result.grade["verdicts_digest"],
        )  # fmt: skip


def oldest_sealed() -> uuid.UUID | None:
    """The sealed run that has waited longest and may be graded now."""
    ready = Q(not_before=None) | Q(not_before__lte=Now())
    rows = Run.objects.filter(ready, state=State.SEALED).order_by("sealed_at", "pk")
    return rows.values_list("pk", flat=True).first()
