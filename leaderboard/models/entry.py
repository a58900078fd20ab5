"""What was done: the outbox of the audit log. Every identity may insert; who and when are set by the database."""

from __future__ import annotations

from django.db import models

from leaderboard.models.base import Row


class LogEntry(Row):
    """``actor`` and ``at`` are forced by a trigger, so a writer can't pose as another or backdate.

    ``body`` holds ids, digests and codes; never content.
    """

    kind = models.CharField(max_length=60)
    subject = models.UUIDField(help_text="The row this is about.")
    body = models.JSONField(default=dict)
    actor = models.CharField(max_length=63, blank=True, editable=False)
    at = models.DateTimeField(null=True, editable=False)

    class Meta:
        indexes = [models.Index(fields=["subject", "at"], name="entry_by_subject")]
