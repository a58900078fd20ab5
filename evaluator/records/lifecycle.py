"""The states of a run and who may move it: one table, read by the ledger, the database trigger and the pages.

A state is what an outsider may know. Why a run failed stands beside it as a code (``Run.reason``).

    queued ─claim─> running ─seal─> sealed ─claim─> grading ─grade─> scored
      │  ^             │               ^               │
      │  └──requeue────┤               └───requeue─────┤
      └─cancel─> cancelled <─cancel────┘               └─void─> void
                    failed <─reject── running ─void──> void

``failed`` is the submission's doing and costs quota; ``void`` is ours and refunds it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    SEALED = "sealed"
    GRADING = "grading"
    SCORED = "scored"
    FAILED = "failed"
    VOID = "void"
    CANCELLED = "cancelled"

    @property
    def final(self) -> bool:
        return self in FINAL


FINAL = frozenset({State.SCORED, State.FAILED, State.VOID, State.CANCELLED})


@dataclass(frozen=True)
class Move:
    """One legal transition. ``identities`` are those of ``leaderboard.identities`` that may make it."""

    name: str
    before: State
    after: State
    identities: frozenset[str]


def _move(name: str, before: State, after: State, *identities: str) -> Move:
    return Move(name, before, after, frozenset(identities))


MOVES: tuple[Move, ...] = (
    _move("claim", State.QUEUED, State.RUNNING, "runner"),
    _move("requeue", State.RUNNING, State.QUEUED, "runner", "clock"),
    _move("seal", State.RUNNING, State.SEALED, "runner"),
    _move("reject", State.RUNNING, State.FAILED, "runner"),
    _move("void", State.RUNNING, State.VOID, "runner", "clock"),
    _move("cancel", State.QUEUED, State.CANCELLED, "web", "clock"),
    _move("cancel", State.RUNNING, State.CANCELLED, "runner", "clock"),
    _move("claim", State.SEALED, State.GRADING, "grader"),
    _move("requeue", State.GRADING, State.SEALED, "grader", "clock"),
    _move("grade", State.GRADING, State.SCORED, "grader"),
    _move("void", State.GRADING, State.VOID, "grader", "clock"),
)


def find(name: str, before: State) -> Move:
    """The move called ``name`` out of ``before``. Raises ``LookupError`` where there is none."""
    for move in MOVES:
        if move.name == name and move.before is before:
            return move
    raise LookupError(f"no move {name!r} out of {before}")
