"""What was asked: one checkpoint on one release with one preset. Logged before anything runs; never withdrawn."""

from __future__ import annotations

from django.db import models

from leaderboard.models.base import Row
from leaderboard.models.benchmark import Benchmark, Preset, Release
from leaderboard.models.checkpoint import Checkpoint
from leaderboard.models.team import Team, User


class Submission(Row):
    team = models.ForeignKey(Team, models.PROTECT, related_name="submissions")
    submitted_by = models.ForeignKey(User, models.PROTECT, related_name="submissions")
    checkpoint = models.ForeignKey(Checkpoint, models.PROTECT, related_name="submissions")
    release = models.ForeignKey(Release, models.PROTECT, related_name="submissions")
    preset = models.ForeignKey(Preset, models.PROTECT, related_name="submissions")
    declaration = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.checkpoint} on {self.release}"


class QuotaEntry(Row):
    """One movement of a team's allowance: a charge at submission, a refund when the failure was ours.

    At most one of each per submission, by constraint: repeating a refund changes nothing.
    """

    class Kind(models.TextChoices):
        CHARGE = "charge"
        REFUND = "refund"

    team = models.ForeignKey(Team, models.PROTECT, related_name="quota_entries")
    benchmark = models.ForeignKey(Benchmark, models.PROTECT, related_name="quota_entries")
    submission = models.ForeignKey(Submission, models.PROTECT, related_name="quota_entries")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    day = models.DateField(help_text="UTC day whose allowance this moves.")
    reason = models.CharField(max_length=80, blank=True)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["submission", "kind"], name="one_charge_one_refund"),
        ]
        indexes = [models.Index(fields=["team", "benchmark", "day"], name="quota_by_day")]
