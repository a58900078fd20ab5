"""The inside of a pack: the same bytes from any order, and no silent loss."""

from __future__ import annotations

import pytest

from evaluator.errors import IntegrityError, Misuse
from evaluator.vault import jsonl

FORM = jsonl.Form("heldout.test/1", frozenset({"index", "text"}))
RECORDS = [{"index": number, "text": f"line\u2028{number}\n\r\x0b\x85"} for number in range(3)]
GOOD = jsonl.write(FORM, {"run": "r"}, RECORDS)


def test_it_reads_what_it_wrote() -> None:
    pack = jsonl.read(FORM, GOOD)
    assert pack.records == RECORDS
    assert pack.header == {"run": "r", "format": "heldout.test/1", "count": 3}


def test_the_order_of_writing_does_not_matter() -> None:
    assert jsonl.write(FORM, {"run": "r"}, reversed(RECORDS)) == GOOD


def test_an_empty_pack_is_a_pack() -> None:
    assert jsonl.read(FORM, jsonl.write(FORM, {}, [])).records == []


def test_two_records_with_one_index_are_a_misuse() -> None:
    with pytest.raises(Misuse):
        jsonl.write(FORM, {}, [RECORDS[0], RECORDS[0]])


def test_a_missing_line_is_noticed() -> None:
    lines = GOOD.split(b"\n")
    with pytest.raises(IntegrityError, match="declares 3"):
        jsonl.read(FORM, b"\n".join(lines[:2] + lines[3:]))


def test_swapped_lines_are_noticed() -> None:
    lines = GOOD.split(b"\n")
    with pytest.raises(IntegrityError, match="order"):
        jsonl.read(FORM, b"\n".join([lines[0], lines[2], lines[1], lines[3], b""]))


@pytest.mark.parametrize("data", [b"", b"\n", b"{", b"[]\n", b"\xff\n", b'{"format":"heldout.other/1","count":0}\n'])
def test_another_form_is_refused(data: bytes) -> None:
    with pytest.raises(IntegrityError, match="is not heldout"):
        jsonl.read(FORM, data)
