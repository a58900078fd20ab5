"""Every route on one screen. All need a signed-in person unless the view says otherwise (``web.access``)."""

from __future__ import annotations

from django.contrib.auth.decorators import login_not_required
from django.urls import URLPattern, URLResolver, include, path
from django.views.generic import RedirectView

from leaderboard.web import api, events, tus
from leaderboard.web.admin import operators
from leaderboard.web.pages import benchmarks, boards, health, runs, teams, uploads

urlpatterns: list[URLPattern | URLResolver] = [
    path("", boards.index, name="home"),
    path("boards/<slug:slug>/", boards.board, name="board"),
    path("boards/<slug:slug>/board.csv", boards.board_csv, name="board-csv"),
    path("boards/<slug:slug>/board.json", boards.board_json, name="board-json"),
    path("benchmarks/", benchmarks.index, name="benchmarks"),
    path("benchmarks/<slug:slug>/", benchmarks.benchmark, name="benchmark"),
    path("benchmarks/<slug:slug>/<str:version>/practice.jsonl", benchmarks.practice, name="practice"),
    path("submit/", uploads.start, name="submit"),
    path("uploads/<uuid:upload_id>/", uploads.upload, name="upload"),
    path("uploads/<uuid:upload_id>/discard", uploads.discard, name="upload-discard"),
    path("uploads/<uuid:upload_id>/files", tus.files, name="upload-files"),
    path("uploads/<uuid:upload_id>/files/<uuid:file_id>", tus.file, name="upload-file"),
    path("checkpoints/", uploads.checkpoints, name="checkpoints"),
    path("checkpoints/<uuid:checkpoint_id>/", uploads.checkpoint, name="checkpoint"),
    path("checkpoints/<uuid:checkpoint_id>/submit", uploads.submit, name="checkpoint-submit"),
    path("runs/", runs.index, name="runs"),
    path("runs/<uuid:run_id>/", runs.run, name="run"),
    path("runs/<uuid:run_id>/events", events.stream, name="run-events"),
    path("runs/<uuid:run_id>/poll", runs.poll, name="run-poll"),
    path("runs/<uuid:run_id>/cancel", runs.cancel, name="run-cancel"),
    path("runs/<uuid:run_id>/provenance", runs.provenance_page, name="provenance"),
    path("runs/<uuid:run_id>/provenance.json", runs.provenance_json, name="provenance-json"),
    path("teams/", teams.index, name="teams"),
    path("teams/<slug:slug>/", teams.team, name="team"),
    path("teams/<slug:slug>/role", teams.set_role, name="team-role"),
    path("teams/<slug:slug>/remove", teams.remove, name="team-remove"),
    path("api/me", api.me, name="api-me"),
    path("api/offers", api.offers, name="api-offers"),
    path("api/names", api.check_names, name="api-names"),
    path("api/uploads", api.open_upload, name="api-uploads"),
    path("api/uploads/<uuid:upload_id>", api.upload, name="api-upload"),
    path("api/uploads/<uuid:upload_id>/close", api.close_upload, name="api-upload-close"),
    path("api/submissions", api.submit, name="api-submissions"),
    path("api/runs/<uuid:run_id>", api.run, name="api-run"),
    path("api/runs/<uuid:run_id>/cancel", api.cancel, name="api-run-cancel"),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("favicon.ico", login_not_required(RedirectView.as_view(url="/static/heldout/mark.svg")), name="favicon"),
    path("accounts/", include("allauth.urls")),
    path("admin/", operators.urls),
]
