"""What it was worth: the exact grade (grader and auditor only) and the number released to the board."""

from __future__ import annotations

from django.db import models

from leaderboard.models.base import DigestField, Row
from leaderboard.models.run import Run


class Grade(Row):
    """The exact scorecard. Keyed by what went in: same outputs, answers, grader and configuration, same grade."""

    run = models.ForeignKey(Run, models.PROTECT, related_name="grades")
    grader_digest = DigestField()
    config_digest = DigestField()
    outputs_digest = DigestField()
    answers_digest = DigestField()
    verdicts_digest = DigestField()
    verdicts_sealed = DigestField()
    scorecard = models.JSONField(help_text="Exact figures; see evaluator.records.scorecard.")
    scorecard_digest = DigestField()
    envelope = models.JSONField(help_text="DSSE envelope with the grader's signature over the scorecard.")
    graded_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run", "outputs_digest", "answers_digest", "grader_digest", "config_digest"],
                name="one_grade_per_inputs",
            ),
        ]


class ReleasedScore(Row):
    """The only score the board and the submitter see. ``rule`` names the release rule that produced it."""

    run = models.OneToOneField(Run, models.PROTECT, related_name="released")
    score = models.DecimalField(max_digits=8, decimal_places=6, null=True, help_text="Empty below the coverage gate.")
    low = models.DecimalField(max_digits=8, decimal_places=6, null=True, help_text="95 % interval.")
    high = models.DecimalField(max_digits=8, decimal_places=6, null=True)
    worst = models.DecimalField(max_digits=8, decimal_places=6, null=True, help_text="Faults counted as wrong.")
    items = models.PositiveIntegerField()
    valid = models.PositiveIntegerField(help_text="Items with a scored outcome.")
    clusters = models.PositiveIntegerField()
    coverage = models.DecimalField(max_digits=7, decimal_places=6)
    ranked = models.BooleanField(help_text="False below the coverage gate.")
    practice_score = models.DecimalField(max_digits=8, decimal_places=6, null=True)
    faults = models.JSONField(default=dict, help_text="Number of faults by kind.")
    limits = models.JSONField(default=dict, help_text="Number of items by outcome, on practice items only.")
    grader_digest = DigestField()
    scorecard_digest = DigestField(help_text="Commits to the exact scorecard without showing it.")
    rule = models.CharField(max_length=40)
    released_at = models.DateTimeField(auto_now_add=True)
