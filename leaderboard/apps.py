"""Refuses to start what must not run (``checks``)."""

from __future__ import annotations

from django.apps import AppConfig


class LeaderboardConfig(AppConfig):
    name = "leaderboard"

    def ready(self) -> None:
        from leaderboard import checks  # noqa: PLC0415  settings must be ready first

        checks.enforce()
