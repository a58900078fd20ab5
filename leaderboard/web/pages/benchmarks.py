"""Benchmarks and their releases: what is measured, by which digests, and the open practice items."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.http import FileResponse, Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_GET

from leaderboard.models import Benchmark, Release
from leaderboard.web import access
from leaderboard.web.access import Request

_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")


@access.board_view
@require_GET
def index(request: Request) -> HttpResponse:
    benchmarks = Benchmark.objects.prefetch_related("releases").order_by("title", "pk")
    return render(request, "benchmarks/index.html", {"benchmarks": benchmarks})


@access.board_view
@require_GET
def benchmark(request: Request, slug: str) -> HttpResponse:
    row = access.one(Benchmark.objects.all(), slug=slug)
    releases = [(release, _counts(release)) for release in row.releases.order_by("-frozen_at", "pk")]
    context = {"benchmark": row, "releases": releases, "presets": row.presets.order_by("created_at", "pk")}
    return render(request, "benchmarks/benchmark.html", context)


@dataclass(frozen=True)
class Split:
    """How many items one part of a release has, and of which sorts."""

    name: str
    items: int
    groups: int
    sorts: tuple[tuple[str, list[tuple[str, int]]], ...]


_SPLITS = ("active", "practice", "reserve", "retired")


def _counts(release: Release) -> list[Split]:
    known = [(name, release.counts[name]) for name in _SPLITS if isinstance(release.counts.get(name), dict)]
    return [
        Split(
            name, counts.get("items", 0), counts.get("groups", 0),
            tuple((each, sorted(counts[each].items())) for each in ("kinds", "categories") if counts.get(each)),
        )
        for name, counts in known
    ]  # fmt: skip


@access.board_view
@require_GET
def practice(request: Request, slug: str, version: str) -> HttpResponseBase:
    """The open pack, as it was frozen. Its address is its digest, and no part of the path is the client's."""
    row = access.one(Release.objects.all(), benchmark__slug=slug, version=version)
    path = _practice_path(row)
    if path is None or not path.is_file():
        raise Http404("This release has no practice items.")
    return FileResponse(
        path.open("rb"),
        as_attachment=True,
        filename=f"practice-{path.name[:12]}.jsonl",
        content_type="application/jsonl",
    )


def _practice_path(release: Release) -> Path | None:
    match = _DIGEST.fullmatch(release.practice_digest)
    if match is None:
        return None
    return Path(settings.STORE) / "practice" / match[1][:2] / f"{match[1]}.jsonl"
