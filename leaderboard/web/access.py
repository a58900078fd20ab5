"""Who may see and do what: decided here and nowhere else. Whatever is not allowed looks as if it did not exist.

    who                     sees                                            does
    signed in               boards, benchmarks, practice packs              -
    competitor of a team    the team's uploads, checkpoints, runs           uploads, submits, cancels
    admin of a team         the same                                        the same; members and roles
    auditor (host team)     every team's checkpoints and runs               -
    admin (host team)       the same                                        makes teams, manages every team

``web.public_board`` in config.json opens boards and benchmarks to people who are not signed in.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from django.conf import settings
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.contrib.auth.models import AnonymousUser
from django.db.models import Model, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase

from leaderboard.models import Checkpoint, Membership, Run, Team, Upload, User
from leaderboard.models.team import Role

Row = TypeVar("Row", bound=Model)
View = TypeVar("View", bound=Callable[..., Any])

ACTING = frozenset({Role.COMPETITOR, Role.ADMIN})
OVERSEEING = frozenset({Role.AUDITOR, Role.ADMIN})
NOT_FOUND = "There is nothing here, or it isn't yours to see."


class Request(HttpRequest):
    """A request whose sender is known: the middleware below lets no other through."""

    user: User


@dataclass(frozen=True)
class Rights:
    """What a person is, in which teams: read once a request."""

    roles: dict[uuid.UUID, str]
    host_roles: frozenset[str]

    @property
    def oversees(self) -> bool:
        return bool(self.host_roles & OVERSEEING)

    @property
    def operates(self) -> bool:
        return Role.ADMIN in self.host_roles

    def teams_with(self, roles: frozenset[Role]) -> list[uuid.UUID]:
        return [team for team, role in self.roles.items() if role in roles]


def rights(user: User | AnonymousUser) -> Rights:
    """The person's roles. A superuser counts as an admin of the host team."""
    known: Rights | None = getattr(user, "_rights", None)
    if known is None:
        known = _read_rights(user)
        user._rights = known  # type: ignore[union-attr]
    return known


def _read_rights(user: User | AnonymousUser) -> Rights:
    if not user.is_authenticated:
        return Rights({}, frozenset())
    rows = list(Membership.objects.filter(user_id=user.pk).values_list("team_id", "role", "team__is_host"))
    host = {role for _, role, is_host in rows if is_host}
    if user.is_superuser:
        host.add(Role.ADMIN)
    return Rights({team: role for team, role, _ in rows}, frozenset(host))


def _owned(user: User, roles: frozenset[Role] | None = None) -> Q:
    """Rows of the person's teams; with ``roles`` only of teams where they hold one of them."""
    known = rights(user)
    if roles is None:
        return Q() if known.oversees else Q(team__in=list(known.roles))
    return Q(team__in=known.teams_with(roles))


def visible_uploads(user: User) -> QuerySet[Upload]:
    return Upload.objects.filter(_owned(user)).select_related("team")


def visible_checkpoints(user: User) -> QuerySet[Checkpoint]:
    return Checkpoint.objects.filter(_owned(user)).select_related("team")


RUN_COLUMNS = (
    "state", "reason", "queued_at", "started_at", "finished_at", "cancel_requested_at", "attempt",
    "progress_done", "progress_total", "runspec_digest", "outputs_digest",
    "submission__created_at", "submission__declaration",
    "submission__team__slug", "submission__team__name",
    "submission__checkpoint__name", "submission__checkpoint__manifest_digest", "submission__checkpoint__facts",
    "submission__release__version", "submission__release__prompts_digest", "submission__release__answers_digest",
    "submission__release__practice_digest", "submission__release__counts",
    "submission__release__benchmark__slug", "submission__release__benchmark__title",
    "submission__release__benchmark__daily_limit",
    "submission__preset__name", "submission__preset__version", "submission__preset__digest",
    "submission__preset__body", "submission__submitted_by__username",
)  # fmt: skip


def visible_runs(user: User) -> QuerySet[Run]:
    """Runs with all a page shows, and no column more: lease, fence and sealed address stay with the workers."""
    known = rights(user)
    mine = Q() if known.oversees else Q(submission__team__in=list(known.roles))
    related = ("submission__team", "submission__checkpoint", "submission__release__benchmark",
               "submission__preset", "submission__submitted_by")  # fmt: skip
    return Run.objects.filter(mine).select_related(*related).only(*RUN_COLUMNS)


def visible_teams(user: User) -> QuerySet[Team]:
    known = rights(user)
    return Team.objects.all() if known.operates else Team.objects.filter(pk__in=list(known.roles))


def acting_teams(user: User) -> QuerySet[Team]:
    """Teams this person may upload and submit for."""
    return Team.objects.filter(pk__in=rights(user).teams_with(ACTING)).order_by("name", "pk")


def may_act_for(user: User, team_id: uuid.UUID) -> bool:
    return rights(user).roles.get(team_id) in ACTING


def may_manage(user: User, team: Team) -> bool:
    known = rights(user)
    return known.operates or known.roles.get(team.pk) == Role.ADMIN


def one(rows: QuerySet[Row], **key: object) -> Row:
    """The row of this key among those the person may see. A stranger's row and no row are the same 404."""
    found = rows.filter(**key).first()
    if found is None:
        raise Http404(NOT_FOUND)
    return found


def require(allowed: bool) -> None:
    """Refuse as if the thing did not exist."""
    if not allowed:
        raise Http404(NOT_FOUND)


def board_view(view: View) -> View:
    """Mark a page that ``web.public_board`` opens to everyone."""
    view.public_board = True  # type: ignore[attr-defined]
    return view


def wants_json(request: HttpRequest) -> bool:
    return request.path.startswith("/api/") or "Tus-Resumable" in request.headers


class SignInFirst(LoginRequiredMiddleware):
    """Every view needs a signed-in person unless it says otherwise. Programs get 401 instead of a form."""

    def process_view(
        self, request: HttpRequest, view_func: Callable[..., Any], view_args: Any, view_kwargs: Any
    ) -> HttpResponseBase | None:
        if getattr(view_func, "public_board", False) and settings.CONFIG.get("web", {}).get("public_board") is True:
            return None
        refused: HttpResponseBase | None = super().process_view(request, view_func, view_args, view_kwargs)
        return refused

    def handle_no_permission(  # type: ignore[override]  # the stubs promise a redirect; Django takes any answer
        self, request: HttpRequest, view_func: Callable[..., Any]
    ) -> HttpResponse:
        if wants_json(request):
            return JsonResponse({"error": "sign-in", "detail": "Sign in first: heldout login URL."}, status=401)
        answer: HttpResponse = super().handle_no_permission(request, view_func)
        return answer
