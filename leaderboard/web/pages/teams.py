"""Teams: who is in them, as what."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from evaluator.errors import Refused
from leaderboard.models import Team
from leaderboard.models.team import Role
from leaderboard.web import access, people
from leaderboard.web.access import Request


@require_http_methods(["GET", "POST"])
def index(request: Request) -> HttpResponse:
    """One's own teams; operators see all and make new ones."""
    operates = access.rights(request.user).operates
    if request.method == "POST":
        access.require(operates)
        return _tell(request, lambda: people.create_team(request.POST.get("name", "")[:120].strip(), request.user))
    roles = access.rights(request.user).roles
    teams = [(team, roles.get(team.pk, "")) for team in access.visible_teams(request.user).order_by("name", "pk")]
    return render(request, "teams/index.html", {"teams": teams, "operates": operates})


@require_GET
def team(request: Request, slug: str) -> HttpResponse:
    row = access.one(access.visible_teams(request.user), slug=slug)
    members = row.memberships.select_related("user").order_by("user__username", "pk")
    roles = [(role.value, role.label) for role in Role if row.is_host or role not in people.HOST_ONLY]
    context = {"team": row, "members": members, "roles": roles, "manages": access.may_manage(request.user, row)}
    return render(request, "teams/team.html", context)


def _managed(request: Request, slug: str) -> Team:
    row = access.one(access.visible_teams(request.user), slug=slug)
    access.require(access.may_manage(request.user, row))
    return row


@require_POST
def set_role(request: Request, slug: str) -> HttpResponse:
    row = _managed(request, slug)
    username, role = request.POST.get("username", "").strip(), request.POST.get("role", "")
    return _tell(request, lambda: people.set_role(row, username, role, request.user), row)


@require_POST
def remove(request: Request, slug: str) -> HttpResponse:
    row = _managed(request, slug)
    return _tell(request, lambda: people.remove(row, request.POST.get("username", ""), request.user), row)


def _tell(request: Request, change: Callable[[], object], team: Team | None = None) -> HttpResponse:
    """Make the change, or say on the next page why not."""
    try:
        change()
    except Refused as refusal:
        for finding in refusal.findings:
            messages.error(request, f"{finding.problem} {finding.remedy}")
    else:
        messages.success(request, "Done.")
    return redirect("team", team.slug) if team else redirect("teams")
