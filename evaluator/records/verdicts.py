"""Verdicts: what a checker said about one output, and the pack that holds those of a run.

    line 1   {"format": "heldout.verdicts/1", "run", "runspec", "outputs", "answers", "grader", "count"}
    then     {"index", "outcome", "score": "1" | "0" | null, "reason", "found": text of at most 200 characters | null}

``score`` is null exactly where the outcome is a fault: ours, never counted. ``found`` is the answer that was read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from evaluator.errors import Finding, Refused
from evaluator.records.outcomes import Outcome
from evaluator.records.packs import Pack, make_format, read, write
from evaluator.records.shapes import digest_text, integer, nullable, one_of, text, uuid_text

RIGHT, WRONG = "1", "0"
LONGEST_FOUND = 200
RUN_ON = "+run-on"
"""Follows a reason where another marked answer came after the one that counted: the model ran on."""


class Reason(StrEnum):
    """Why an output was marked as it was. Stable codes: they stand in records and on pages."""

    EQUAL = "equal"
    """Right: the answer that was read equals an expected one under the item's rule."""
    DIFFERENT = "different"
    """Wrong: an answer was read, and it is another one."""
    NO_ANSWER = "no-answer"
    """Wrong: nothing in the output has the form of an answer."""
    AMBIGUOUS = "ambiguous"
    """Wrong: several answers, and the rule does not say which counts. Nothing is guessed."""
    UNREADABLE = "unreadable"
    """Wrong: there is something where the answer should be, but the rule can't read it (an expression, say)."""
    UNIT_MISSING = "unit-missing"
    """Wrong: the item's rule asks for a unit or percent sign, and it isn't there."""
    UNFINISHED_THINKING = "unfinished-thinking"
    """Wrong: the output ends inside its thinking, or holds nothing else."""
    TOO_LONG = "too-long"
    """Wrong: no answer within the part of the output that is read."""
    FAULT = "fault"
    """No score: ours broke."""


REASONS = frozenset({*map(str, Reason), *(f"{reason}{RUN_ON}" for reason in Reason if reason is not Reason.FAULT)})

VERDICTS = make_format(
    "heldout.verdicts/1",
    {"run": uuid_text, "runspec": digest_text, "outputs": digest_text, "answers": digest_text, "grader": digest_text},
    {
        "index": integer(0, 2**31 - 1), "outcome": one_of(*Outcome), "score": nullable(one_of(RIGHT, WRONG)),
        "reason": one_of(*REASONS), "found": nullable(text(LONGEST_FOUND)),
    },
)  # fmt: skip


class Verdict(NamedTuple):
    """What a checker says. ``score`` is "1" or "0"; ``found`` is the answer that was read, as far as it goes."""

    score: str
    reason: str
    found: str | None

    @property
    def right(self) -> bool:
        return self.score == RIGHT


def record(index: int, outcome: str, verdict: Verdict) -> dict[str, Any]:
    """The verdict record of a scored output."""
    score, reason, found = verdict
    return {"index": index, "outcome": outcome, "score": score, "reason": reason, "found": found}


def fault_record(index: int) -> dict[str, Any]:
    """The verdict record of a fault: no score, and nothing was read."""
    return {"index": index, "outcome": Outcome.FAULT.value, "score": None, "reason": Reason.FAULT.value, "found": None}


def write_verdicts(header: Mapping[str, str], records: Iterable[Mapping[str, Any]]) -> bytes:
    """``header`` holds run, runspec and the digests of outputs, answers and grader."""
    return write(VERDICTS, header, records)


def read_verdicts(data: bytes) -> Pack:
    """Strictly, as every pack, and a score is missing exactly on faults."""
    pack = read(VERDICTS, data)
    found = [
        Finding("verdicts.fault", f"{VERDICTS.name}, line {number}", "A score is missing exactly on faults.", "")
        for number, line in enumerate(pack.records, 2)
        if (line["score"] is None) != (line["outcome"] == Outcome.FAULT)
    ]
    if found:
        raise Refused(found[:20])
    return pack
