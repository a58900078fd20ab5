"""Verdict records: a score is missing exactly on faults, and reasons are from a closed list."""

from __future__ import annotations

from typing import Any

import pytest

from evaluator.errors import Refused
from evaluator.records.verdicts import REASONS, Verdict, fault_record, read_verdicts, record, write_verdicts
from tests.records.samples import RUN, digest

HEADER = {name: digest(letter) for name, letter in
          {"runspec": "1", "outputs": "2", "answers": "3", "grader": "4"}.items()} | {"run": RUN}  # fmt: skip
RIGHT = record(0, "answered", Verdict("1", "equal", "18"))


def pack_of(*records: dict[str, Any]) -> bytes:
    return write_verdicts(HEADER, records)


def test_what_was_written_reads_back() -> None:
    records = [RIGHT, fault_record(1), record(2, "limit", Verdict("0", "different+run-on", None))]
    assert read_verdicts(pack_of(*records)).records == records


@pytest.mark.parametrize("change", [
    {"score": "0.5"}, {"score": 1}, {"score": True}, {"reason": "because"}, {"reason": "fault+run-on"},
    {"found": "x" * 201}, {"outcome": "right"}, {"text": "x"},
])  # fmt: skip
def test_it_refuses_a_verdict_outside_the_closed_lists(change: dict[str, Any]) -> None:
    with pytest.raises(Refused):
        pack_of({**RIGHT, **change})


@pytest.mark.parametrize("wrong", [{**RIGHT, "score": None}, {**fault_record(0), "score": "0"}])
def test_a_score_is_missing_exactly_on_faults(wrong: dict[str, Any]) -> None:
    with pytest.raises(Refused, match="exactly on faults"):
        read_verdicts(pack_of(wrong))


def test_reasons_are_a_closed_list_of_codes() -> None:
    assert {"equal", "different", "no-answer", "ambiguous", "equal+run-on", "fault"} <= REASONS
    assert all(reason.isascii() and reason == reason.lower() for reason in REASONS)
