"""What all our rows share: a random key made by the writer.

Keys are random UUIDs made in Python, for two reasons: a role that may insert but not read can't use ``RETURNING``,
and a unique or foreign-key error on a guessed key must reveal nothing.
"""

from __future__ import annotations

import uuid

from django.core.validators import RegexValidator
from django.db import models

DIGEST_LENGTH = len("sha256:") + 64
is_digest = RegexValidator(r"^sha256:[0-9a-f]{64}\Z", "A digest is sha256: and 64 lower-case hexadecimal digits.")


class Row(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)

    class Meta:
        abstract = True


class DigestField(models.CharField):  # type: ignore[type-arg]  # the stubs' two parameters don't exist at run time
    """``sha256:…``; empty until known."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        kwargs.setdefault("max_length", DIGEST_LENGTH)
        kwargs.setdefault("blank", True)
        kwargs.setdefault("default", "")
        kwargs.setdefault("validators", [is_digest])
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
