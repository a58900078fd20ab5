"""What happened: a run is one evaluation of one submission, moved by ``leaderboard.ledger`` alone.

A worker holds a lease (``lease_until``) and a fencing token (``fence``). Each claim raises the token; writes under an
old one change nothing, and the trigger in ``guards.sql`` refuses them.
"""

from __future__ import annotations

from django.db import models

from evaluator.records.lifecycle import State
from leaderboard.models.base import DigestField, Row
from leaderboard.models.submission import Submission


class Run(Row):
    submission = models.OneToOneField(Submission, models.PROTECT, related_name="run")
    state = models.CharField(max_length=10, choices=[(state.value, state.value) for state in State], default="queued")
    reason = models.CharField(max_length=80, blank=True, help_text="Code of why it failed, is void or was cancelled.")
    queued_at = models.DateTimeField(auto_now_add=True)
    not_before = models.DateTimeField(null=True, help_text="A retry waits until then.")
    started_at = models.DateTimeField(null=True)
    sealed_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    cancel_requested_at = models.DateTimeField(null=True)

    attempt = models.PositiveIntegerField(default=0, help_text="Attempts at running, the present one included.")
    grading_attempt = models.PositiveIntegerField(default=0)
    fence = models.PositiveBigIntegerField(default=0)
    lease_owner = models.CharField(max_length=120, blank=True)
    lease_until = models.DateTimeField(null=True)

    progress_done = models.PositiveIntegerField(default=0)
    progress_total = models.PositiveIntegerField(default=0)

    runspec_digest = DigestField()
    outputs_digest = DigestField(help_text="Content digest of the outputs pack.")
    outputs_sealed = DigestField(help_text="Digest of the sealed file.")

    class Meta:
        indexes = [
            models.Index(fields=["state", "queued_at"], name="run_by_state"),
        ]

    def __str__(self) -> str:
        return f"{self.submission} ({self.state})"


class Attempt(Row):
    """One try at running or grading. Kept for good: how it ended, and for a run the RunSpec it was made under."""

    class Kind(models.TextChoices):
        RUN = "run"
        GRADE = "grade"

    run = models.ForeignKey(Run, models.PROTECT, related_name="attempts")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    number = models.PositiveIntegerField()
    fence = models.PositiveBigIntegerField()
    worker = models.CharField(max_length=120)
    runspec = models.JSONField(null=True)
    runspec_digest = DigestField()
    facts = models.JSONField(default=dict, help_text="What the engine and the container reported; no hidden content.")
    started_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)
    ending = models.CharField(max_length=80, blank=True, help_text="'sealed', 'graded', or the code of what broke.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "fence"], name="one_attempt_per_fence")]
        ordering = ["started_at", "id"]


class PracticeResult(Row):
    """A practice item as it was asked, answered and judged. Open data: everything may be shown to the team."""

    run = models.ForeignKey(Run, models.PROTECT, related_name="practice_results")
    index = models.PositiveIntegerField()
    kind = models.CharField(max_length=20)
    category = models.CharField(max_length=80)
    prompt = models.JSONField(help_text="Messages or text, as sent.")
    completion = models.TextField()
    outcome = models.CharField(max_length=20)
    score = models.CharField(max_length=10, blank=True, help_text="Decimal text; empty where a fault has no score.")
    reason = models.CharField(max_length=80, blank=True)
    expected = models.JSONField(default=list)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "index"], name="one_practice_result_per_item")]
