"""For operators and load balancers: alive, and ready."""

from __future__ import annotations

import os

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_GET


@login_not_required
@require_GET
def healthz(request: HttpRequest) -> HttpResponse:
    """This process answers."""
    return HttpResponse("ok\n", content_type="text/plain")


@login_not_required
@require_GET
def readyz(request: HttpRequest) -> HttpResponse:
    """Everything a request needs is there. The broker is not asked: without it hints come late, and nothing is lost."""
    checks = {"database": _database(), "quarantine": os.access(settings.INTAKE, os.W_OK)}
    ready = all(checks.values())
    return JsonResponse({"ready": ready, "checks": checks}, status=200 if ready else 503)


def _database() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM leaderboard_benchmark LIMIT 1")
    except DatabaseError:
        return False
    return True
