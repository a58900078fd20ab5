"""Who: people, the teams they submit for, and the host team that curates, audits and administers."""

from __future__ import annotations

import uuid

from django.contrib.auth.models import AbstractUser
from django.db import models

from leaderboard.models.base import Row


class User(AbstractUser):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)


class Team(Row):
    """``is_host`` marks the team that runs this server; curator, auditor and admin roles count only there."""

    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=120)
    is_host = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name


class Role(models.TextChoices):
    COMPETITOR = "competitor", "Competitor: submits and sees the team's own runs"
    CURATOR = "curator", "Curator: prepares and rotates task sets (host team)"
    AUDITOR = "auditor", "Auditor: may see exact scores and replay (host team)"
    ADMIN = "admin", "Admin: manages the team and, on the host team, the server"


class Membership(Row):
    team = models.ForeignKey(Team, models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=20, choices=Role.choices, default=Role.COMPETITOR)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "user"], name="one_membership_per_team")]

    def __str__(self) -> str:
        return f"{self.user} in {self.team} as {self.role}"
