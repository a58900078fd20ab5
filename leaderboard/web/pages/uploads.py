"""From a folder to a submission: upload, findings, checkpoint, choice of preset."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from evaluator.errors import Refused, Stale
from leaderboard.ledger import admissions
from leaderboard.models import Checkpoint, Team, Upload
from leaderboard.web import access, live, quarantine, submitting
from leaderboard.web.access import Request

RECENT = 10


@require_GET
def start(request: Request) -> HttpResponse:
    """Choose a folder, name it, declare it; beside it what is on its way and what may be submitted again."""
    uploads = access.visible_uploads(request.user).order_by("-created_at", "pk")
    context = {
        "teams": access.acting_teams(request.user),
        "open": uploads.filter(state__in=[Upload.State.RECEIVING, Upload.State.CHECKING])[:RECENT],
        "refused": uploads.filter(state=Upload.State.REFUSED)[:3],
        "checkpoints": _mine(request)[:RECENT],
        "part": 8 * 1024 * 1024,
        "limit": settings.UPLOAD_LIMIT,
    }
    return render(request, "submit/start.html", context)


def _mine(request: Request) -> QuerySet[Checkpoint]:
    teams = access.acting_teams(request.user)
    return access.visible_checkpoints(request.user).filter(team__in=teams).order_by("-admitted_at", "pk")


@require_GET
def upload(request: Request, upload_id: uuid.UUID) -> HttpResponse:
    """Where an upload stands. While it is checked the page asks again by itself."""
    row = access.one(access.visible_uploads(request.user).select_related("checkpoint"), pk=upload_id)
    acting = access.may_act_for(request.user, row.team_id)
    context = {"upload": row, "files": row.files.order_by("created_at", "pk"), "acting": acting,
               "part": 8 * 1024 * 1024}  # fmt: skip
    template = "submit/_upload_state.html" if getattr(request, "htmx", False) else "submit/upload.html"
    return render(request, template, context)


@require_POST
def discard(request: Request, upload_id: uuid.UUID) -> HttpResponse:
    """Give up an upload that is not complete, and free its bytes."""
    row = access.one(access.visible_uploads(request.user), pk=upload_id)
    access.require(access.may_act_for(request.user, row.team_id))
    try:
        admissions.discard(row, request.user)
    except Stale:
        messages.error(request, "This upload is complete; it can't be given up any more.")
        return redirect("upload", row.pk)
    quarantine.drop(row.pk)
    return redirect("submit")


@require_GET
def checkpoints(request: Request) -> HttpResponse:
    rows = access.visible_checkpoints(request.user).order_by("-admitted_at", "pk")
    return render(request, "checkpoints/index.html", {"checkpoints": rows[:200]})


@require_GET
def checkpoint(request: Request, checkpoint_id: uuid.UUID) -> HttpResponse:
    row = access.one(access.visible_checkpoints(request.user), pk=checkpoint_id)
    runs = access.visible_runs(request.user).filter(submission__checkpoint=row).order_by("-queued_at", "pk")
    context = {
        "checkpoint": row,
        "files": row.manifest.get("files", []),
        "facts": _facts(row),
        "runs": [(run, live.snapshot(run.pk)) for run in runs[:50]],
        "acting": access.may_act_for(request.user, row.team_id),
    }
    return render(request, "checkpoints/checkpoint.html", context)


_FIRST = ("architecture", "parameters", "dtype", "context", "vocabulary")


def _facts(row: Checkpoint) -> list[tuple[str, object]]:
    """All but the control prompts, which are for the runner."""
    shown = {name: value for name, value in row.facts.items() if name not in {"control", "completion"}}
    names = [*(name for name in _FIRST if name in shown), *sorted(shown.keys() - set(_FIRST))]
    return [(name.replace("_", " "), shown[name]) for name in names]


@require_http_methods(["GET", "POST"])
def submit(request: Request, checkpoint_id: uuid.UUID) -> HttpResponse:
    """Choose benchmark and preset, see what is left of the allowance, confirm the declaration."""
    row = access.one(access.visible_checkpoints(request.user), pk=checkpoint_id)
    access.require(access.may_act_for(request.user, row.team_id))
    findings = []
    if request.method == "POST":
        try:
            release, _, preset = request.POST.get("offer", "").partition(":")
            body = {**request.POST.dict(), "release": release, "preset": preset}
            return redirect("run", submitting.submit(request.user, row, body).run.pk)
        except Refused as refusal:
            findings = [finding.as_json() for finding in refusal.findings]
        except Stale:
            findings = [{"where": "submission", "problem": "It has changed meanwhile.", "remedy": "Look again."}]
    return render(request, "submit/submit.html", _choices(request, row, row.team, findings), status=_status(findings))


def _status(findings: list[dict[str, str]]) -> int:
    return 422 if findings else 200


def _choices(request: Request, row: Checkpoint, team: Team, findings: list[dict[str, str]]) -> dict[str, object]:
    allowances = submitting.allowances(team)
    offers = []
    for offer in submitting.offers():
        try:
            submitting.fits(row, offer.preset)
            unfit = ""
        except Refused as refusal:
            unfit = str(refusal)
        offers.append((offer, unfit))
    return {
        "checkpoint": row,
        "offers": offers,
        "chosen": request.POST.get("offer", ""),
        "allowances": allowances,
        "declaration": request.POST or row.declaration,
        "findings": findings,
        "exhausted": bool(allowances) and all(allowance.left == 0 for _, allowance in allowances),
    }
