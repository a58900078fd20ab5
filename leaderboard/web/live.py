"""What may be known of a run while it runs: one snapshot, the same for page, event stream, polling and command line.

On hidden items that is state, position, coarse duration, progress in tenths, and at the end the released score. On
practice items it is everything, as it comes.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.utils import timezone

from evaluator.records.lifecycle import State
from leaderboard.models import PracticeResult, ReleasedScore, Run
from leaderboard.web import words
from leaderboard.web.figures import percent

_STEPS = {State.QUEUED.value: 0, State.RUNNING.value: 1, State.SEALED.value: 2, State.GRADING.value: 2,
          State.SCORED.value: 3}  # fmt: skip

PAGE = 500
"""Practice items that one read brings."""


@dataclass(frozen=True)
class Snapshot:
    run: uuid.UUID
    state: str
    label: str
    explanation: str
    reason: str
    position: int | None
    tenths: int
    duration: str
    cancelling: bool
    score: str
    low: str
    high: str

    @property
    def final(self) -> bool:
        return State(self.state).final

    @property
    def percent(self) -> int:
        return 10 * self.tenths

    @property
    def score_percent(self) -> str:
        return percent(Decimal(self.score) if self.score else None)

    @property
    def low_percent(self) -> str:
        return percent(Decimal(self.low) if self.low else None)

    @property
    def high_percent(self) -> str:
        return percent(Decimal(self.high) if self.high else None)

    @property
    def steps(self) -> list[tuple[str, str]]:
        """The way of a run with where it stands; one that ended early stands nowhere."""
        if self.state not in _STEPS:
            return [(name, "") for name in ("Queued", "Running", "Grading", "Scored")]
        at = _STEPS[self.state]
        names = ("Queued", "Running", "Grading", "Scored")
        return [(name, "past" if n < at else "here" if n == at else "") for n, name in enumerate(names)]

    @property
    def cancellable(self) -> bool:
        return self.state in {State.QUEUED, State.RUNNING} and not self.cancelling

    def as_json(self) -> dict[str, object]:
        return {
            "run": str(self.run), "state": self.state, "label": self.label, "reason": self.reason,
            "position": self.position, "progress_percent": self.percent, "duration": self.duration,
            "cancelling": self.cancelling, "final": self.final,
            "score": self.score or None, "low": self.low or None, "high": self.high or None,
        }  # fmt: skip


_COLUMNS = (
    "pk",
    "state",
    "reason",
    "started_at",
    "finished_at",
    "cancel_requested_at",
    "progress_done",
    "progress_total",
)


def snapshots(run_ids: Iterable[uuid.UUID]) -> dict[uuid.UUID, Snapshot]:
    """Three queries, however many runs."""
    wanted = list(run_ids)
    rows = Run.objects.filter(pk__in=wanted).values(*_COLUMNS)
    scores = ReleasedScore.objects.filter(run__in=wanted).values("run_id", "score", "low", "high")
    released: dict[uuid.UUID, dict[str, Any]] = {row["run_id"]: dict(row) for row in scores}
    positions = queue_positions()
    return {row["pk"]: _snapshot(dict(row), released.get(row["pk"], {}), positions.get(row["pk"])) for row in rows}


def queue_positions() -> dict[uuid.UUID, int]:
    queued = Run.objects.filter(state=State.QUEUED).order_by("queued_at", "pk").values_list("pk", flat=True)
    return {run_id: number for number, run_id in enumerate(queued, start=1)}


def _snapshot(row: dict[str, Any], released: dict[str, Any], position: int | None) -> Snapshot:
    state = State(row["state"])
    ended = row["finished_at"] or timezone.now()
    over = state in {State.SEALED, State.GRADING, State.SCORED}
    done, total = row["progress_done"], row["progress_total"]
    return Snapshot(
        run=row["pk"],
        state=state.value,
        label=words.label(state),
        explanation=words.explanation(state),
        reason=words.reason(row["reason"]) if state.final or state is State.QUEUED else "",
        position=position,
        tenths=10 if over else words.tenths(done, total),
        duration=words.bucket(row["started_at"], ended),
        cancelling=row["cancel_requested_at"] is not None and not state.final,
        score=decimal(released.get("score")),
        low=decimal(released.get("low")),
        high=decimal(released.get("high")),
    )


def decimal(value: object) -> str:
    return "" if value is None else str(value)


def snapshot(run_id: uuid.UUID) -> Snapshot:
    return snapshots([run_id])[run_id]


@dataclass(frozen=True)
class PracticeItem:
    """A practice item as pages show it."""

    index: int
    kind: str
    category: str
    prompt: object
    completion: str
    outcome: str
    score: str
    reason: str
    expected: object

    @property
    def turns(self) -> list[tuple[str, str]]:
        """Who said what: messages, alone or under their name, or a plain prompt."""
        asked = self.prompt
        if isinstance(asked, dict):
            asked = asked.get("messages", asked.get("prompt", ""))
        if isinstance(asked, list):
            return [(str(one.get("role", "")), str(one.get("content", ""))) for one in asked if isinstance(one, dict)]
        return [("prompt", str(asked))]

    @property
    def verdict(self) -> str:
        if not self.score:
            return "unscored"
        return "right" if Decimal(self.score) >= 1 else "wrong"


_PRACTICE = ("index", "kind", "category", "prompt", "completion", "outcome", "score", "reason", "expected")


def practice(run_id: uuid.UUID, after: int = 0) -> Sequence[PracticeItem]:
    """Practice items in the order they came, from the ``after``-th on."""
    rows = PracticeResult.objects.filter(run=run_id).order_by("at", "index").values(*_PRACTICE)
    return [PracticeItem(**row) for row in rows[after : after + PAGE]]
