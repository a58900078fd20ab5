"""A message is a hint: "look at this row". It carries one UUID and decides nothing.

Losing, repeating, reordering or forging one can at worst make a worker look at a row early.
"""

from __future__ import annotations

import logging
import uuid

from django.db import transaction
from kombu.exceptions import OperationalError

from leaderboard.celery import app

log = logging.getLogger(__name__)

TASKS = {"web": "web.look", "runner": "runner.look", "grader": "grader.look"}


def send(queue: str, row_id: uuid.UUID) -> bool:
    """Put the hint on ``queue``. A broker that is away is no failure: the clock will hint again."""
    try:
        app.send_task(TASKS[queue], args=[str(row_id)], queue=queue, task_id=str(uuid.uuid4()), retry=False)
    except OperationalError as error:
        log.warning("no hint for %s on %s, the broker is away: %s", row_id, queue, error)
        return False
    return True


def send_on_commit(queue: str, row_id: uuid.UUID) -> None:
    transaction.on_commit(lambda: send(queue, row_id))
