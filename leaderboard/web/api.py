"""JSON for the upload page and the command line: the same access, ledger and standings as the pages."""

from __future__ import annotations

import json
import uuid

from django.http import HttpResponse, JsonResponse
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from evaluator.errors import Refused
from evaluator.intake import names
from leaderboard.ledger import admissions, runs
from leaderboard.models import Upload
from leaderboard.web import access, live, submitting
from leaderboard.web.access import Request
from leaderboard.web.problems import answers_problems

MAX_NAMES = 2000


def _body(request: Request) -> dict[str, object]:
    try:
        body = json.loads(request.body or b"{}")
    except (ValueError, RecursionError) as error:
        raise Refused.one("json", "body", "The body is not JSON.", "Send one JSON object.") from error
    if not isinstance(body, dict):
        raise Refused.one("json", "body", "The body is not a JSON object.", "Send one JSON object.")
    return body


@require_GET
def me(request: Request) -> HttpResponse:
    teams = [
        {"slug": team.slug, "name": team.name, "role": access.rights(request.user).roles[team.pk]}
        for team in access.acting_teams(request.user)
    ]
    return JsonResponse({"username": request.user.get_username(), "teams": teams})


@require_GET
def offers(request: Request) -> HttpResponse:
    found = [
        {
            "benchmark": offer.release.benchmark.slug, "release": str(offer.release.pk),
            "version": offer.release.version, "preset": str(offer.preset.pk), "preset_name": str(offer.preset),
            "mode": offer.preset.body.get("mode"),
        }
        for offer in submitting.offers()
    ]  # fmt: skip
    return JsonResponse({"offers": found})


@require_POST
@answers_problems
def check_names(request: Request) -> HttpResponse:
    """What the check would say about the names alone, before a byte is sent."""
    untrusted = _body(request).get("names")
    if not isinstance(untrusted, list) or len(untrusted) > MAX_NAMES:
        raise Refused.one("names", "names", f"A list of at most {MAX_NAMES} names.", "Send fewer.")
    wanted = [str(name) for name in untrusted]
    found = {name: [finding.as_json() for finding in names.check([name])] for name in wanted}
    return JsonResponse({"names": {name: findings for name, findings in found.items() if findings}})


@require_POST
@answers_problems
def open_upload(request: Request) -> HttpResponse:
    upload = submitting.open_upload(request.user, _body(request))
    return JsonResponse(_upload(upload), status=201)


@require_GET
def upload(request: Request, upload_id: uuid.UUID) -> HttpResponse:
    return JsonResponse(_upload(access.one(access.visible_uploads(request.user), pk=upload_id)))


@require_POST
@answers_problems
def close_upload(request: Request, upload_id: uuid.UUID) -> HttpResponse:
    row = access.one(access.visible_uploads(request.user), pk=upload_id)
    access.require(access.may_act_for(request.user, row.team_id))
    admissions.close_upload(row)
    row.refresh_from_db()
    return JsonResponse(_upload(row))


def _upload(row: Upload) -> dict[str, object]:
    files = [
        {"name": file.name, "size": file.size, "offset": file.offset,
         "location": reverse("upload-file", args=[row.pk, file.pk])}
        for file in row.files.order_by("created_at", "pk")
    ]  # fmt: skip
    return {
        "id": str(row.pk), "name": row.name, "team": row.team.slug, "state": row.state, "findings": row.findings,
        "files": files, "create": reverse("upload-files", args=[row.pk]),
        "page": reverse("upload", args=[row.pk]),
        "checkpoint": str(row.checkpoint_id) if row.checkpoint_id else None,
        "submit": reverse("checkpoint-submit", args=[row.checkpoint_id]) if row.checkpoint_id else None,
    }  # fmt: skip


@require_POST
@answers_problems
def submit(request: Request) -> HttpResponse:
    body = _body(request)
    wanted = submitting.keys(body.get("checkpoint"))
    checkpoint = access.one(access.visible_checkpoints(request.user), pk__in=wanted)
    access.require(access.may_act_for(request.user, checkpoint.team_id))
    submission = submitting.submit(request.user, checkpoint, body)
    run_id = submission.run.pk
    return JsonResponse({"run": str(run_id), "page": reverse("run", args=[run_id])}, status=201)


@require_GET
def run(request: Request, run_id: uuid.UUID) -> HttpResponse:
    row = access.one(access.visible_runs(request.user), pk=run_id)
    body = live.snapshot(row.pk).as_json()
    body |= {"page": reverse("run", args=[row.pk]), "model": row.submission.checkpoint.name}
    return JsonResponse(body)


@require_POST
@answers_problems
def cancel(request: Request, run_id: uuid.UUID) -> HttpResponse:
    row = access.one(access.visible_runs(request.user), pk=run_id)
    access.require(access.may_act_for(request.user, row.submission.team_id))
    runs.request_cancel(row.pk, request.user.pk)
    return JsonResponse(live.snapshot(row.pk).as_json())
