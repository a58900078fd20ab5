"""People and teams, made by an operator or by set-up. Sign-up and the team pages use the same functions."""

from __future__ import annotations

from django.db import transaction

from leaderboard.ledger import entries
from leaderboard.models import Membership, Team, User


def ensure_team(slug: str, name: str, *, is_host: bool = False) -> Team:
    """The team of this slug, made where there is none."""
    with transaction.atomic():
        team = Team.objects.filter(slug=slug).first()
        if team is None:
            team = Team.objects.create(slug=slug, name=name, is_host=is_host)
            entries.record("team.create", team.pk, slug=slug)
    return team


def ensure_user(username: str, password: str, *, staff: bool = False) -> tuple[User, bool]:
    """The user of this name, and whether it was made now. The password of one that exists is left as it is."""
    with transaction.atomic():
        user = User.objects.filter(username=username).first()
        if user is not None:
            return user, False
        email = f"{username}@heldout.invalid"  # RFC 2606: nobody's address
        user = User.objects.create_user(username, email, password, is_staff=staff, is_superuser=staff)
        entries.record("user.create", user.pk, staff=staff)
    return user, True


def ensure_membership(team: Team, user: User, role: str) -> Membership:
    with transaction.atomic():
        membership = Membership.objects.filter(team=team, user=user).first()
        if membership is None:
            membership = Membership.objects.create(team=team, user=user, role=role)
            entries.record("team.member", team.pk, user=user.pk, role=role)
    return membership
