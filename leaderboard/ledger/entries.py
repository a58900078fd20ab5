"""One entry in the outbox of the audit log, in the transaction of the change it tells of."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping

from django.db import connection


def record(kind: str, subject: uuid.UUID, **body: object) -> None:
    """Insert the entry. Only these four columns: actor and time are the database's to set."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO leaderboard_logentry (id, kind, subject, body) VALUES (%s, %s, %s, %s)",
            [uuid.uuid4(), kind, subject, json.dumps(_plain(body))],
        )


def _plain(body: Mapping[str, object]) -> dict[str, object]:
    return {key: str(value) if isinstance(value, uuid.UUID) else value for key, value in body.items()}
