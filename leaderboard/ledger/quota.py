"""A team's daily allowance per benchmark, as a ledger of charges and refunds.

The day is the UTC day. What the submit page shows and what is enforced are computed by the same function.
"""

from __future__ import annotations

import datetime as dt
import uuid
from dataclasses import dataclass

from django.utils import timezone

from leaderboard.models import Benchmark, QuotaEntry, Submission, Team


@dataclass(frozen=True)
class Allowance:
    limit: int
    used: int
    resets_at: dt.datetime

    @property
    def left(self) -> int:
        return max(0, self.limit - self.used)


def allowance(team: Team, benchmark: Benchmark, now: dt.datetime | None = None) -> Allowance:
    """Charges less refunds of the present UTC day, and when the next day begins."""
    now = now or timezone.now()
    day = now.astimezone(dt.UTC).date()
    entries = QuotaEntry.objects.filter(team=team, benchmark=benchmark, day=day)
    used = entries.filter(kind="charge").count() - entries.filter(kind="refund").count()
    tomorrow = dt.datetime.combine(day + dt.timedelta(days=1), dt.time(), dt.UTC)
    return Allowance(benchmark.daily_limit, used, tomorrow)


def charge(submission: Submission, benchmark: Benchmark) -> None:
    day = timezone.now().astimezone(dt.UTC).date()
    QuotaEntry.objects.create(
        team_id=submission.team_id, benchmark=benchmark, submission=submission, kind="charge", day=day
    )


def refund(submission_id: uuid.UUID, reason: str) -> None:
    """Give the charge back, once, to the day it was taken from. A second refund is ignored by the constraint."""
    paid = QuotaEntry.objects.filter(submission_id=submission_id, kind="charge").first()
    if paid is None:
        return
    refund_entry = QuotaEntry(
        team_id=paid.team_id, benchmark_id=paid.benchmark_id, submission_id=paid.submission_id,
        kind="refund", day=paid.day, reason=reason,
    )  # fmt: skip
    QuotaEntry.objects.bulk_create([refund_entry], ignore_conflicts=True)
