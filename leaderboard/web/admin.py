"""The operators' desk: people and teams may be edited, everything that happened may only be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from allauth.account.decorators import secure_admin_login
from django.contrib.admin import AdminSite, ModelAdmin
from django.contrib.auth.admin import UserAdmin
from django.db.models import QuerySet
from django.http import HttpRequest

from leaderboard.models import (
    Attempt,
    Benchmark,
    Checkpoint,
    Membership,
    Preset,
    Release,
    ReleasedScore,
    Run,
    Submission,
    Team,
    Upload,
    User,
)

if TYPE_CHECKING:
    from django.db.models import Model

    Admin = ModelAdmin[Model]
else:
    Admin = ModelAdmin


class Operators(AdminSite):
    site_header = site_title = "Heldout operators"
    index_title = "Records"
    enable_nav_sidebar = False


operators = Operators(name="admin")
operators.login = secure_admin_login(operators.login)  # type: ignore[method-assign]  # sign-in with its rate limits


class Readable(Admin):
    """Nothing is added, changed or deleted here; the ledger is the only writer."""

    list_per_page = 50
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class Undeletable(Admin):
    list_per_page = 50
    show_full_result_count = False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class PersonAdmin(UserAdmin):  # type: ignore[type-arg]  # generic in the stubs only
    """People are switched off, not deleted: what they did stays theirs."""

    list_display = ("username", "email", "is_active", "is_staff", "last_login")
    list_filter = ("is_active", "is_staff")

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class TeamAdmin(Undeletable):
    list_display = ("name", "slug", "is_host", "created_at")
    search_fields = ("name", "slug")


class MembershipAdmin(Admin):
    list_display = ("team", "user", "role", "created_at")
    list_select_related = ("team", "user")
    list_filter = ("role",)
    autocomplete_fields = ("team", "user")
    list_per_page = 50
    show_full_result_count = False


class BenchmarkAdmin(Readable):
    list_display = ("title", "slug", "daily_limit", "created_at")


class ReleaseAdmin(Readable):
    list_display = ("benchmark", "version", "state", "frozen_at")
    list_select_related = ("benchmark",)
    list_filter = ("state",)


class PresetAdmin(Readable):
    list_display = ("benchmark", "name", "version", "digest")
    list_select_related = ("benchmark",)


class UploadAdmin(Readable):
    list_display = ("name", "team", "created_by", "state", "created_at")
    list_select_related = ("team", "created_by")
    list_filter = ("state",)


class CheckpointAdmin(Readable):
    list_display = ("name", "team", "manifest_digest", "size", "admitted_at")
    list_select_related = ("team",)
    search_fields = ("name", "manifest_digest")


class SubmissionAdmin(Readable):
    list_display = ("checkpoint", "team", "release", "preset", "submitted_by", "created_at")
    list_select_related = ("checkpoint", "team", "release__benchmark", "preset", "submitted_by")


class RunAdmin(Readable):
    list_display = ("id", "checkpoint", "team", "state", "reason", "attempt", "queued_at")
    list_filter = ("state",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: QuerySet[Any] = super().get_queryset(request)
        return rows.select_related("submission__checkpoint", "submission__team", "submission__release__benchmark")

    def checkpoint(self, run: Run) -> str:
        return run.submission.checkpoint.name

    def team(self, run: Run) -> str:
        return run.submission.team.name


class AttemptAdmin(Readable):
    list_display = ("run_id", "kind", "number", "worker", "ending", "started_at", "ended_at")
    list_filter = ("kind", "ending")


class ReleasedScoreAdmin(Readable):
    list_display = ("run_id", "score", "low", "high", "valid", "items", "coverage", "ranked", "released_at")


for model, admin in (
    (User, PersonAdmin),
    (Team, TeamAdmin),
    (Membership, MembershipAdmin),
    (Benchmark, BenchmarkAdmin),
    (Release, ReleaseAdmin),
    (Preset, PresetAdmin),
    (Upload, UploadAdmin),
    (Checkpoint, CheckpointAdmin),
    (Submission, SubmissionAdmin),
    (Run, RunAdmin),
    (Attempt, AttemptAdmin),
    (ReleasedScore, ReleasedScoreAdmin),
):
    operators.register(model, admin)
