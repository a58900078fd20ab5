"""Teams and their members: the only writes of the web outside the ledger. Who may do it is decided by the caller."""

from __future__ import annotations

from django.db import transaction
from django.utils.text import slugify

from evaluator.errors import Refused
from leaderboard.ledger import entries
from leaderboard.models import Membership, Team, User
from leaderboard.models.team import Role

HOST_ONLY = frozenset({Role.CURATOR, Role.AUDITOR})


def create_team(name: str, by: User) -> Team:
    """A new team; who made it is its first admin."""
    slug = slugify(name)[:60]
    if not slug:
        raise Refused.one("team-name", "name", "The name has no letters or digits.", "Choose another name.")
    with transaction.atomic():
        if Team.objects.filter(slug=slug).exists():
            raise Refused.one("team-name", "name", "There is a team of this name.", "Choose another name.")
        team = Team.objects.create(slug=slug, name=name)
        Membership.objects.create(team=team, user=by, role=Role.ADMIN)
        entries.record("team.create", team.pk, slug=slug, user=by.pk)
    return team


def set_role(team: Team, username: str, role: str, by: User) -> None:
    """Add the person, or give them another role. The last admin can't step down."""
    known = _role(team, role)
    user = User.objects.filter(username=username, is_active=True).first()
    if user is None:
        raise Refused.one("no-such-person", "username", "Nobody here has this name.", "Ask for the exact user name.")
    with transaction.atomic():
        Team.objects.select_for_update(of=("self",)).get(pk=team.pk)
        if known is not Role.ADMIN:
            _keep_an_admin(team, user)
        Membership.objects.update_or_create(team=team, user=user, defaults={"role": known})
        entries.record("team.role", team.pk, user=user.pk, role=known.value, by=by.pk)


def remove(team: Team, username: str, by: User) -> None:
    with transaction.atomic():
        Team.objects.select_for_update(of=("self",)).get(pk=team.pk)
        member = Membership.objects.filter(team=team, user__username=username).select_related("user").first()
        if member is None:
            raise Refused.one("no-such-member", "username", "The team has no such member.", "Look at the list again.")
        _keep_an_admin(team, member.user)
        user_id = member.user_id
        member.delete()
        entries.record("team.remove", team.pk, user=user_id, by=by.pk)


def _role(team: Team, role: str) -> Role:
    if role not in Role.values:
        raise Refused.one("role", "role", "There is no such role.", f"Choose one of {', '.join(Role.values)}.")
    known = Role(role)
    if known in HOST_ONLY and not team.is_host:
        raise Refused.one(
            "role", "role", "Curators and auditors belong to the host team.", "Choose competitor or admin."
        )
    return known


def _keep_an_admin(team: Team, leaving: User) -> None:
    others = Membership.objects.filter(team=team, role=Role.ADMIN).exclude(user=leaving)
    if not others.exists() and Membership.objects.filter(team=team, role=Role.ADMIN, user=leaving).exists():
        raise Refused.one("last-admin", "role", "A team keeps at least one admin.", "Make somebody else admin first.")
