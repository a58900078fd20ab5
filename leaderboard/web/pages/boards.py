"""The board of one release and preset, as a page, as CSV and as JSON with the same filters."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass

from django.core.paginator import Page, Paginator
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET

from leaderboard import standings
from leaderboard.models import Benchmark, Preset, Release
from leaderboard.standings import Board, Standing
from leaderboard.web import access, figures
from leaderboard.web.access import Request

PER_PAGE = 50
COLUMNS = (
    ("rank", "#", "Rank; below it the ranks that the intervals leave open"),
    ("model", "Model", "Checkpoint and team"),
    ("score", "Score %", "Share of items answered correctly, higher is better, with its 95 % interval"),
    ("n", "Items", "Items with a valid answer, of all; groups of near-duplicates count as one in the interval"),
    ("coverage", "Cover %", "Share of items without a fault of ours"),
    ("faults", "Faults", "Items that met a fault of ours: never scored, never counted as wrong"),
    ("attempts", "Attempts", "Submissions of the team to this release, whatever became of them"),
    ("date", "Since", "Day the score was first released (UTC)"),
)


@dataclass(frozen=True)
class Query:
    """What the address asks for. Unknown names fall back to the default; none of it reaches SQL."""

    sort: str
    team: str
    text: str

    @classmethod
    def of(cls, request: Request) -> Query:
        sort = request.GET.get("sort", "rank")
        known = sort if sort.removeprefix("-") in standings.SORTS else "rank"
        return cls(known, request.GET.get("team", "")[:60], request.GET.get("q", "")[:120])


@dataclass(frozen=True)
class View:
    """One board, filtered and in order."""

    benchmark: Benchmark
    board: Board
    query: Query

    @property
    def ranked(self) -> list[Standing]:
        found = standings.search(self.board.ranked, self.query.team, self.query.text)
        return standings.arrange(found, self.query.sort)

    @property
    def apart(self) -> list[Standing]:
        return standings.search(self.board.apart, self.query.team, self.query.text)


@access.board_view
@require_GET
def index(request: Request) -> HttpResponse:
    benchmarks = list(Benchmark.objects.filter(releases__isnull=False).distinct().order_by("title", "pk"))
    if len(benchmarks) == 1:
        return redirect("board", benchmarks[0].slug)
    return render(request, "boards/index.html", {"benchmarks": benchmarks})


def _view(request: Request, slug: str) -> View | None:
    """The board of the address. ``None`` where the benchmark has no release or no preset yet."""
    benchmark = access.one(Benchmark.objects.all(), slug=slug)
    release = _release(benchmark, request.GET.get("release"))
    preset = _preset(benchmark, request.GET.get("preset"))
    if release is None or preset is None:
        return None
    return View(benchmark, standings.board(release, preset), Query.of(request))


def _release(benchmark: Benchmark, version: str | None) -> Release | None:
    releases = benchmark.releases.select_related("benchmark")
    if version:
        return access.one(releases, version=version)
    return releases.filter(state=Release.State.ACTIVE).first() or releases.order_by("-frozen_at").first()


def _preset(benchmark: Benchmark, name: str | None) -> Preset | None:
    """``name`` is the preset's name, "@" and its version; without it the oldest preset stands."""
    presets = benchmark.presets.order_by("created_at", "pk")
    if name:
        short, _, version = name.partition("@")
        return access.one(presets, name=short, version=version)
    return presets.first()


@access.board_view
@require_GET
def board(request: Request, slug: str) -> HttpResponse:
    view = _view(request, slug)
    if view is None:
        return render(request, "boards/empty.html", {"benchmark": access.one(Benchmark.objects.all(), slug=slug)})
    page = Paginator(view.ranked, PER_PAGE).get_page(request.GET.get("page"))
    template = "boards/_table.html" if getattr(request, "htmx", False) else "boards/board.html"
    return render(request, template, _context(request, view, page))


def _context(request: Request, view: View, page: Page[Standing]) -> dict[str, object]:
    scale = figures.scale(view.board.ranked)
    mine = set(access.rights(request.user).roles)
    return {
        "view": view,
        "benchmark": view.benchmark,
        "release": view.board.release,
        "preset": view.board.preset,
        "releases": view.benchmark.releases.order_by("-frozen_at", "pk"),
        "presets": view.benchmark.presets.order_by("created_at", "pk"),
        "teams": sorted({(row.entry.team_slug, row.entry.team_name) for row in view.board.all}, key=lambda t: t[1]),
        "columns": COLUMNS,
        "sort": view.query.sort.removeprefix("-"),
        "descending": view.query.sort.startswith("-"),
        "page": page,
        "rows": [(row, figures.bar(row, scale), row.entry.team in mine) for row in page],
        "apart": [(row, row.entry.team in mine) for row in view.apart],
        "scale": scale,
        "oversees": access.rights(request.user).oversees,
    }


FIELDS = (
    "rank", "rank_best", "rank_worst", "tied", "model", "team", "score", "low", "high", "worst", "items", "valid",
    "groups", "coverage", "faults", "attempts", "runs", "since", "missing", "benchmark", "release", "preset",
    "preset_digest", "checkpoint_digest", "runspec_digest", "grader_digest", "scorecard_digest", "rule",
)  # fmt: skip


def _record(row: Standing, view: View) -> dict[str, object]:
    entry, board = row.entry, view.board
    numbers = {name: _text(getattr(entry, name)) for name in ("score", "low", "high", "worst", "coverage")}
    return numbers | {
        "rank": row.rank, "rank_best": row.best, "rank_worst": row.worst, "tied": row.tied,
        "model": entry.model, "team": entry.team_slug, "items": entry.items, "valid": entry.valid,
        "groups": entry.clusters, "faults": entry.fault_count, "attempts": entry.attempts, "runs": entry.runs,
        "since": entry.released_at.date().isoformat() if entry.released_at else None,
        "missing": row.missing or None, "benchmark": view.benchmark.slug, "release": board.release.version,
        "preset": f"{board.preset.name}@{board.preset.version}", "preset_digest": board.preset.digest,
        "checkpoint_digest": entry.manifest, "runspec_digest": entry.runspec, "grader_digest": entry.grader,
        "scorecard_digest": entry.scorecard, "rule": entry.rule,
    }  # fmt: skip


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _records(request: Request, slug: str) -> tuple[View, list[dict[str, object]]]:
    view = _view(request, slug)
    if view is None:
        raise Http404(access.NOT_FOUND)
    return view, [_record(row, view) for row in [*view.ranked, *view.apart]]


@access.board_view
@require_GET
def board_json(request: Request, slug: str) -> HttpResponse:
    view, records = _records(request, slug)
    difference = view.board.difference
    rows = [{name: record[name] for name in FIELDS} for record in records]
    return JsonResponse({"minimum_detectable_difference": _text(difference), "rows": rows})


@access.board_view
@require_GET
def board_csv(request: Request, slug: str) -> HttpResponse:
    view, records = _records(request, slug)
    out = io.StringIO()
    writer = csv.DictWriter(out, FIELDS, lineterminator="\r\n")
    writer.writeheader()
    for record in records:
        writer.writerow({name: spreadsheet_safe(value) for name, value in record.items()})
    name = f"{view.benchmark.slug}-{view.board.release.version}.csv"
    headers = {"Content-Disposition": f'attachment; filename="{"".join(_plain(name))}"'}
    return HttpResponse(out.getvalue(), content_type="text/csv; charset=utf-8", headers=headers)


def _plain(name: str) -> Iterator[str]:
    return (character if character.isalnum() or character in "-._" else "-" for character in name)


def spreadsheet_safe(value: object) -> object:
    """Text that a spreadsheet would take for a formula gets an apostrophe before it."""
    if value is None:
        return ""
    if isinstance(value, str) and value.lstrip(" ")[:1] in tuple("=+-@\t\r\n|%"):
        return f"'{value}"
    return value
