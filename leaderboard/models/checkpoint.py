"""What is submitted: an upload while bytes arrive, a checkpoint once it is admitted."""

from __future__ import annotations

from django.db import models

from leaderboard.models.base import DigestField, Row
from leaderboard.models.team import Team, User


class Upload(Row):
    """Files on their way in. ``findings`` holds what was refused, one entry per mistake."""

    class State(models.TextChoices):
        RECEIVING = "receiving"
        CHECKING = "checking"
        ADMITTED = "admitted"
        REFUSED = "refused"

    team = models.ForeignKey(Team, models.PROTECT, related_name="uploads")
    created_by = models.ForeignKey(User, models.PROTECT, related_name="uploads")
    name = models.CharField(max_length=120)
    base_model = models.CharField(max_length=200, blank=True)
    training_data = models.TextField(blank=True)
    notes = models.TextField(blank=True)
    state = models.CharField(max_length=10, choices=State.choices, default=State.RECEIVING)
    findings = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True)
    checking_until = models.DateTimeField(null=True, help_text="Lease of the check; a check that died is repeated.")
    checkpoint = models.ForeignKey("Checkpoint", models.PROTECT, null=True, related_name="uploads")

    def __str__(self) -> str:
        return self.name


class UploadedFile(Row):
    """One file of an upload. ``offset`` bytes have arrived; the row, not a process, knows how far it is."""

    upload = models.ForeignKey(Upload, models.CASCADE, related_name="files")
    name = models.CharField(max_length=255)
    size = models.BigIntegerField()
    offset = models.BigIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["upload", "name"], name="one_file_per_name"),
            models.CheckConstraint(condition=models.Q(offset__lte=models.F("size")), name="offset_within_size"),
        ]

    @property
    def complete(self) -> bool:
        return self.offset == self.size


class Checkpoint(Row):
    """Admitted weights. The digest of the manifest is its identity; the same bytes twice are one checkpoint a team."""

    team = models.ForeignKey(Team, models.PROTECT, related_name="checkpoints")
    created_by = models.ForeignKey(User, models.PROTECT, related_name="checkpoints")
    name = models.CharField(max_length=120)
    manifest = models.JSONField(help_text="Files with size and SHA-256.")
    manifest_digest = DigestField()
    facts = models.JSONField(default=dict, help_text="What intake read: architecture, parameters, tokenizer, template.")
    declaration = models.JSONField(default=dict, help_text="Base model, training data and notes, as declared.")
    size = models.BigIntegerField(help_text="Bytes of all files.")
    admitted_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "manifest_digest"], name="one_checkpoint_per_manifest"),
        ]

    def __str__(self) -> str:
        return self.name
