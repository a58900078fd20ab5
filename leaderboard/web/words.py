"""What a person reads for a state, an outcome or a code. A fixed list: free text of a worker never reaches a page."""

from __future__ import annotations

import datetime as dt
import re

from evaluator.records.lifecycle import State

STATES: dict[str, tuple[str, str]] = {
    State.QUEUED: ("Queued", "It waits for a free worker."),
    State.RUNNING: ("Running", "The checkpoint answers the items in a container without a network."),
    State.SEALED: ("Grading", "All outputs are sealed; a grader will open them."),
    State.GRADING: ("Grading", "The grader compares the sealed outputs with the answers."),
    State.SCORED: ("Scored", "The score is released and signed."),
    State.FAILED: ("Failed", "The submission itself could not be run. This counts against the allowance."),
    State.VOID: ("Void", "Something of ours broke. The attempt was refunded."),
    State.CANCELLED: ("Cancelled", "It was stopped by the team."),
}

_REASONS = {
    "cancelled": "Cancelled by the team.",
    "cancelled before it ran": "Cancelled by the team.",
    "worker-lost": "Our worker was lost.",
    "integrity": "Bytes were not what their digest says. The operators were told.",
    "checkpoint.load": "The engine could not load this checkpoint.",
    "sealed": "sealed",
    "graded": "graded",
}

_FAULTS = {
    "engine": "Our engine broke.",
    "launcher": "Our launcher broke.",
    "sandbox": "The container around the model broke.",
    "tool": "One of our tools broke.",
    "node": "Our machine broke.",
    "grader": "Our grader broke.",
}
"""By the part before the slash. What exactly broke is for the operators: it could tell about hidden items."""

_CODE = re.compile(r"[a-z][a-z0-9._-]{0,59}")

_BUCKETS = ((60, "under 1 min"), (300, "1 to 5 min"), (900, "5 to 15 min"), (3600, "15 to 60 min"))

OUTCOMES = {
    "answered": "answered",
    "limit": "hit the token limit",
    "context": "did not fit the context",
    "refused": "refused",
    "malformed": "not readable",
    "fault": "our fault, not scored",
}


def label(state: str) -> str:
    return STATES[state][0]


def explanation(state: str) -> str:
    return STATES[state][1]


def reason(code: str) -> str:
    """A sentence for a code of ``Run.reason`` or of an attempt's ending; the code itself where we have none."""
    kind, slash, _ = code.partition("/")
    if slash:
        return _FAULTS.get(kind, "Something of ours broke.")
    if not code or code in _REASONS:
        return _REASONS.get(code, "")
    return f"Code: {code}." if _CODE.fullmatch(code) else "Something of ours broke."


def bucket(started: dt.datetime | None, ended: dt.datetime) -> str:
    """The time a run took, as coarse as a submitter may know it."""
    if started is None:
        return ""
    seconds = (ended - started).total_seconds()
    for limit, text in _BUCKETS:
        if seconds < limit:
            return text
    return "over 1 hour"


def tenths(done: int, total: int) -> int:
    """Progress in steps of a tenth, rounded down."""
    return min(10, 10 * done // total) if total else 0
