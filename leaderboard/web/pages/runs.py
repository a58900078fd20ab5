"""A run: live, and what it was made of."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from django.core.paginator import Paginator
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from leaderboard.ledger import quota, runs
from leaderboard.models import Submission
from leaderboard.web import access, events, live, provenance
from leaderboard.web.access import Request

PER_PAGE = 50


@require_GET
def index(request: Request) -> HttpResponse:
    rows = access.visible_runs(request.user).order_by("-queued_at", "-pk")
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    states = live.snapshots(run.pk for run in page)
    return render(request, "runs/index.html", {"page": page, "rows": [(run, states[run.pk]) for run in page]})


@require_GET
def run(request: Request, run_id: uuid.UUID) -> HttpResponse:
    row = access.one(access.visible_runs(request.user), pk=run_id)
    submission = row.submission
    practice = live.practice(row.pk)
    context = {
        "run": row,
        "submission": submission,
        "snapshot": live.snapshot(row.pk),
        "practice": practice,
        "tally": tally(practice),
        "attempts": Submission.objects.filter(team=submission.team_id, release=submission.release_id).count(),
        "allowance": quota.allowance(submission.team, submission.release.benchmark),
        "acting": access.may_act_for(request.user, submission.team_id),
    }
    return render(request, "runs/run.html", context)


@dataclass(frozen=True)
class Tally:
    """Practice items by verdict."""

    right: int
    wrong: int
    unscored: int

    @property
    def all(self) -> int:
        return self.right + self.wrong + self.unscored


def tally(items: Sequence[live.PracticeItem]) -> Tally:
    counts = Counter(item.verdict for item in items)
    return Tally(counts["right"], counts["wrong"], counts["unscored"])


@require_GET
def poll(request: Request, run_id: uuid.UUID) -> HttpResponse:
    """What the event stream says, for browsers and proxies that hold no stream open."""
    access.one(access.visible_runs(request.user), pk=run_id)
    after = request.GET.get("after", "0")
    start = min(int(after), 10**6) if after.isascii() and after.isdigit() else 0
    snapshot = live.snapshot(run_id)
    items = live.practice(run_id, start)
    body = {
        "state": events.state_html(snapshot),
        "practice": [events.practice_html(item) for item in items],
        "after": start + len(items),
        "final": snapshot.final and len(items) < live.PAGE,
    }
    return JsonResponse(body, headers={"Cache-Control": "no-store"})


@require_POST
def cancel(request: Request, run_id: uuid.UUID) -> HttpResponse:
    row = access.one(access.visible_runs(request.user), pk=run_id)
    access.require(access.may_act_for(request.user, row.submission.team_id))
    runs.request_cancel(row.pk, request.user.pk)
    return redirect("run", row.pk)


@require_GET
def provenance_page(request: Request, run_id: uuid.UUID) -> HttpResponse:
    row = access.one(access.visible_runs(request.user), pk=run_id)
    context = {"run": row, "submission": row.submission, "provenance": provenance.read(row)}
    return render(request, "runs/provenance.html", context)


@require_GET
def provenance_json(request: Request, run_id: uuid.UUID) -> HttpResponse:
    row = access.one(access.visible_runs(request.user), pk=run_id)
    return JsonResponse(provenance.read(row).as_json(), json_dumps_params={"indent": 2})
