"""Registers the system checks when Django starts."""

from __future__ import annotations

from django.apps import AppConfig


class LeaderboardConfig(AppConfig):
    name = "leaderboard"

    def ready(self) -> None:
        from leaderboard import checks  # noqa: F401, PLC0415  registering is the import's effect; settings must be ready
