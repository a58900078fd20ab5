"""The product's own Celery application with one task that rings on: what the broker's rules must let through."""

from __future__ import annotations

from django.conf import settings

from leaderboard.celery import app

app.conf.include = []

NEXT = {"web": "runner", "runner": "grader", "grader": ""}


def ring(untrusted_id: str) -> None:
    """Write down that the bell rang, then ring the next one, as the real tasks do."""
    with (settings.STATE / "run" / settings.IDENTITY / "rang").open("a") as file:
        file.write(f"{untrusted_id}\n")
    following = NEXT[settings.IDENTITY]
    if following:
        app.send_task(f"{following}.look", args=[untrusted_id], queue=following)


app.task(name=f"{settings.IDENTITY}.look")(ring)
