"""One form for what an endpoint refuses: a code, a sentence and, for bad input, the findings."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpResponse, JsonResponse

from evaluator.errors import Refused, Stale

STATUS = {"quota": 429, "upload-too-large": 413, "upload-closed": 409, "file-twice": 409}


def problem(status: int, code: str, detail: str) -> JsonResponse:
    return JsonResponse({"error": code, "detail": detail}, status=status)


def refused(refusal: Refused, status: int | None = None) -> JsonResponse:
    first = refusal.findings[0]
    body = {
        "error": first.code,
        "detail": str(first),
        "findings": [finding.as_json() for finding in refusal.findings],
    }
    return JsonResponse(body, status=status or STATUS.get(first.code, 422))


def answers_problems(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Refusals and lost races of the ledger as JSON."""

    @wraps(view)
    def inner(*args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return view(*args, **kwargs)
        except Refused as refusal:
            return refused(refusal)
        except Stale:
            return problem(409, "stale", "It has changed meanwhile. Look again.")

    return inner
