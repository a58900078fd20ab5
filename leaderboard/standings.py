"""The only reader for ranking. ``board`` reads released numbers; everything after it is pure.

1. One row a checkpoint: its first complete run counts, so that running again until lucky gains nothing. Where no run
   is complete, its latest run stands apart with the reason.
2. Rank is one more than the number of strictly higher scores. Equal scores share a rank and are listed by first time.
3. The band spans the ranks that the intervals leave open: everyone whose interval lies wholly above is certainly
   ahead, everyone whose interval lies wholly below is certainly behind.
4. What has no score never ranks: it is listed apart, whichever way the board is sorted.
"""

from __future__ import annotations

import datetime as dt
import math
import statistics
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from django.db.models import Count

from evaluator.records.lifecycle import State
from leaderboard.models import Preset, Release, Run, Submission

POWER = 2.8
"""1.96 + 0.84: a difference that a 95 % test finds in four of five cases, in standard errors."""


@dataclass(frozen=True)
class Entry:
    """One run as the board may know it. ``score`` is empty until released, and below the coverage gate."""

    run: uuid.UUID
    checkpoint: uuid.UUID
    model: str
    team: uuid.UUID
    team_slug: str
    team_name: str
    state: str
    queued_at: dt.datetime
    manifest: str = ""
    runspec: str = ""
    grader: str = ""
    scorecard: str = ""
    rule: str = ""
    score: Decimal | None = None
    low: Decimal | None = None
    high: Decimal | None = None
    worst: Decimal | None = None
    items: int = 0
    valid: int = 0
    clusters: int = 0
    coverage: Decimal | None = None
    ranked: bool = False
    practice: Decimal | None = None
    faults: dict[str, int] = field(default_factory=dict)
    released_at: dt.datetime | None = None
    runs: int = 1
    attempts: int = 1

    @property
    def complete(self) -> bool:
        return self.ranked and self.score is not None

    @property
    def fault_count(self) -> int:
        return sum(self.faults.values())

    @property
    def first(self) -> dt.datetime:
        return self.released_at or self.queued_at


@dataclass(frozen=True)
class Standing:
    """A row of the board. ``rank`` is empty and ``missing`` says why where there is no score to rank."""

    entry: Entry
    rank: int | None = None
    tied: bool = False
    best: int | None = None
    worst: int | None = None
    missing: str = ""


@dataclass(frozen=True)
class Board:
    release: Release
    preset: Preset
    ranked: tuple[Standing, ...]
    apart: tuple[Standing, ...]
    difference: Decimal | None
    graders: tuple[str, ...]

    @property
    def all(self) -> tuple[Standing, ...]:
        return self.ranked + self.apart


def board(release: Release, preset: Preset) -> Board:
    entries = pick(_entries(release, preset))
    ranked, apart = rank(entries)
    graders = tuple(sorted({entry.grader for entry in entries if entry.grader}))
    return Board(release, preset, tuple(ranked), tuple(apart), minimum_difference(entries), graders)


_RELEASED = (
    "score", "low", "high", "worst", "items", "valid", "clusters", "coverage", "ranked", "practice_score", "faults",
    "grader_digest", "scorecard_digest", "rule", "released_at",
)  # fmt: skip
_COLUMNS = (
    "pk", "state", "queued_at", "runspec_digest", "submission__checkpoint", "submission__checkpoint__name",
    "submission__checkpoint__manifest_digest", "submission__team", "submission__team__slug", "submission__team__name",
    *(f"released__{name}" for name in _RELEASED),
)  # fmt: skip


def _entries(release: Release, preset: Preset) -> list[Entry]:
    rows = Run.objects.filter(submission__release=release, submission__preset=preset).exclude(state=State.CANCELLED)
    attempts = dict(
        Submission.objects.filter(release=release).values_list("team").annotate(number=Count("pk")).order_by()
    )
    return [_entry(row, attempts) for row in rows.order_by("queued_at", "pk").values(*_COLUMNS)]


def _entry(row: dict[str, Any], attempts: dict[uuid.UUID, int]) -> Entry:
    released = {name: row[f"released__{name}"] for name in _RELEASED if row["released__released_at"] is not None}
    names = {"practice_score": "practice", "grader_digest": "grader", "scorecard_digest": "scorecard"}
    return Entry(
        run=row["pk"], state=row["state"], queued_at=row["queued_at"], runspec=row["runspec_digest"],
        checkpoint=row["submission__checkpoint"], model=row["submission__checkpoint__name"],
        manifest=row["submission__checkpoint__manifest_digest"], team=row["submission__team"],
        team_slug=row["submission__team__slug"], team_name=row["submission__team__name"],
        attempts=attempts.get(row["submission__team"], 0),
        **{names.get(name, name): value for name, value in released.items()},
    )  # fmt: skip


def pick(entries: Iterable[Entry]) -> list[Entry]:
    """One entry a checkpoint: the first complete one, else the latest. ``runs`` tells how many there were."""
    by_checkpoint: dict[uuid.UUID, list[Entry]] = {}
    for entry in entries:
        by_checkpoint.setdefault(entry.checkpoint, []).append(entry)
    return [replace(_chosen(group), runs=len(group)) for group in by_checkpoint.values()]


def _chosen(group: Sequence[Entry]) -> Entry:
    complete = [entry for entry in group if entry.complete]
    if complete:
        return min(complete, key=lambda entry: (entry.first, entry.run))
    return max(group, key=lambda entry: (entry.queued_at, entry.run))


def rank(entries: Iterable[Entry]) -> tuple[list[Standing], list[Standing]]:
    """Those with a score in their order, and those without, by time."""
    all_entries = list(entries)
    scored = sorted((entry for entry in all_entries if entry.complete), key=_by_score)
    apart = sorted((entry for entry in all_entries if not entry.complete), key=lambda entry: (entry.first, entry.run))
    scores = [entry.score for entry in scored]
    standings = [_place(entry, scored, scores) for entry in scored]
    return standings, [Standing(entry, missing=missing(entry)) for entry in apart]


def _by_score(entry: Entry) -> tuple[Decimal, dt.datetime, uuid.UUID]:
    return (-(entry.score or Decimal(0)), entry.first, entry.run)


def _place(entry: Entry, scored: Sequence[Entry], scores: Sequence[Decimal | None]) -> Standing:
    score = entry.score or Decimal(0)
    ahead = sum(1 for other in scores if other is not None and other > score)
    best, worst = band(entry, scored)
    return Standing(entry, ahead + 1, scores.count(entry.score) > 1, min(best, ahead + 1), max(worst, ahead + 1))


def band(entry: Entry, scored: Sequence[Entry]) -> tuple[int, int]:
    """The best and the worst rank that the intervals leave open. Without an interval nothing is certain."""
    others = [other for other in scored if other.run != entry.run]
    ahead = sum(1 for other in others if _clearly_above(other, entry))
    behind = sum(1 for other in others if _clearly_above(entry, other))
    return 1 + ahead, 1 + len(others) - behind


def _clearly_above(upper: Entry, lower: Entry) -> bool:
    return upper.low is not None and lower.high is not None and upper.low > lower.high


def missing(entry: Entry) -> str:
    """Why there is no score. Never empty for an entry that does not rank."""
    state = State(entry.state)
    if state is State.SCORED:
        return "below the coverage gate: too many items met a fault of ours"
    return {
        State.QUEUED: "waits for a worker",
        State.RUNNING: "no score yet",
        State.SEALED: "no score yet",
        State.GRADING: "no score yet",
        State.FAILED: "could not be run",
        State.VOID: "void: something of ours broke",
        State.CANCELLED: "cancelled",
    }[state]


def minimum_difference(entries: Iterable[Entry]) -> Decimal | None:
    """The difference of two scores that this release can tell apart, from the median interval of the board.

    For independent answers; two models that agree on most items are told apart at less.
    """
    errors = [
        float(entry.high - entry.low) / 2 / 1.96
        for entry in entries
        if entry.complete and entry.low is not None and entry.high is not None
    ]
    if not errors:
        return None
    return Decimal(POWER * math.sqrt(2) * statistics.median(errors)).quantize(Decimal("0.001"))


SORTS: dict[str, Callable[[Standing], object]] = {
    "rank": lambda row: row.rank,
    "score": lambda row: row.entry.score,
    "model": lambda row: row.entry.model.casefold(),
    "team": lambda row: row.entry.team_name.casefold(),
    "n": lambda row: row.entry.valid,
    "coverage": lambda row: row.entry.coverage,
    "faults": lambda row: row.entry.fault_count,
    "attempts": lambda row: row.entry.attempts,
    "date": lambda row: row.entry.first,
}


def arrange(rows: Iterable[Standing], sort: str) -> list[Standing]:
    """Rows with a rank by the key ``sort`` ("-" before it turns it round), equal ones by rank and then by run."""
    name = sort.removeprefix("-")
    key = SORTS.get(name, SORTS["rank"])
    steady = sorted(rows, key=lambda row: (row.rank or 0, row.entry.first, row.entry.run))
    return sorted(steady, key=key, reverse=sort.startswith("-"))  # type: ignore[arg-type]  # keys of one column


def search(rows: Iterable[Standing], team: str = "", text: str = "") -> list[Standing]:
    """Rows of this team whose model or team holds the text. Ranks stay those of the whole board."""
    wanted = text.casefold()
    return [
        row
        for row in rows
        if (not team or row.entry.team_slug == team)
        and (wanted in row.entry.model.casefold() or wanted in row.entry.team_name.casefold())
    ]
