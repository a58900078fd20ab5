"""There is one way to write a pack, and the reader takes nothing else."""

from __future__ import annotations

import random
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.errors import Refused
from evaluator.records.packs import (
    MOST_FINDINGS,
    read_answers,
    read_outputs,
    read_prompts,
    write_answers,
    write_outputs,
    write_prompts,
)
from tests.records.samples import RELEASE, RUN, answer, digest, output

RECORDS = [output(index, f"text {index}") for index in range(5)]
GOOD = write_outputs(RUN, digest("c"), RECORDS)


def refusal(data: bytes) -> str:
    with pytest.raises(Refused) as caught:
        read_outputs(data)
    return str(caught.value)


def test_what_was_written_reads_back() -> None:
    pack = read_outputs(GOOD)
    assert pack.records == RECORDS
    assert pack.header == {"format": "heldout.outputs/1", "run": RUN, "runspec": digest("c"), "count": 5}


def test_records_in_any_order_are_written_the_same() -> None:
    shuffled = random.Random(1).sample(RECORDS, len(RECORDS))
    assert write_outputs(RUN, digest("c"), shuffled) == GOOD


@pytest.mark.parametrize(("old", "new", "says"), [
    (b'"count":5', b'"count":6', "line 1: says 6 records, but there are 5"),
    (b'"index":3', b'"index":2', "line 5: has index 2 after 2"),
    (b'"index":1,', b'"index":9,', "line 4: has index 2 after 9"),
    (b'"batch":0', b'"batch": 0', "line 2: is not written canonically"),
    (b'"batch":0', b'"batch":0,"batch":0', "line 2: is not written canonically"),
    (b'"text 2"', b'"t\\u0065xt 2"', "line 4: is not written canonically"),
    (b'"ms":12', b'"ms":12.0', 'line 2: "ms" must be an integer'),
    (b'"ms":12', b'"ms":-1', 'line 2: "ms" must be an integer'),
    (b'"ms":12', b'"ms":true', 'line 2: "ms" must be an integer'),
    (b'"ms":12', b'"ms":9007199254740993', 'line 2: "ms" must be an integer'),
    (b'"ms":12', b'"msec":12', '"msec" is no field'),
    (b'"ms":12', b'"ms":NaN', "line 2: is not JSON"),
    (b'"tokens":[1,2,3]', b'"tokens":[1,2,"3"]', '"tokens" must be a list of integers'),
    (b'"tokens":[1,2,3]', b'"tokens":[1,-2,3]', '"tokens" must be a list of integers'),
    (b'"tokens":[1,2,3]', b'"tokens":[true]', '"tokens" must be a list of integers'),
    (b'"outcome":"answered"', b'"outcome":"right"', '"outcome" must be one of'),
    (b'"prompt_sha256":"aaaa', b'"prompt_sha256":"AAAA', '"prompt_sha256" must be'),
    (b"heldout.outputs/1", b"heldout.outputs/2", '"format" must be one of heldout.outputs/1'),
    (b'"run":"', b'"run":"X', '"run" must be a lower-case UUID'),
    (b'"text":"text 3"', b'"text":"\\ud800"', "line 5: is not JSON"),
    (b"\n", b"\r\n", "is not written canonically"),
    (b"\n", b"\n\n", "is not JSON"),
    (b'{"count"', b'\xef\xbb\xbf{"count"', "line 1: is not JSON"),
])  # fmt: skip
def test_it_refuses_with_the_line(old: bytes, new: bytes, says: str) -> None:
    assert old in GOOD
    assert says in refusal(GOOD.replace(old, new, 1))


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"x", b"[]\n", b"null\n", b"{}\n", GOOD[:-1], GOOD[: len(GOOD) // 2], GOOD * 2]
)
def test_it_refuses_what_is_no_pack(data: bytes) -> None:
    assert refusal(data)


def test_a_pack_that_was_cut_at_its_last_line_end_is_named_so() -> None:
    assert "The last line is not ended" in refusal(GOOD[:-1])


def test_every_byte_that_is_taken_away_or_changed_is_noticed() -> None:
    chance = random.Random(3)
    for _ in range(300):
        place = chance.randrange(len(GOOD))
        try:
            pack = read_outputs(GOOD[:place] + bytes([GOOD[place] ^ 1]) + GOOD[place + 1 :])
        except Refused:
            continue
        assert pack.digest != read_outputs(GOOD).digest


def test_all_mistakes_of_a_pack_are_told_up_to_a_cap() -> None:
    with pytest.raises(Refused) as caught:
        read_outputs(write_outputs(RUN, digest("c"), map(output, range(50))).replace(b'"ms":12', b'"ms":"12"'))
    assert len(caught.value.findings) == MOST_FINDINGS + 1
    assert "and 30 more" in str(caught.value)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    assert refusal(data)


@pytest.mark.parametrize("change", [
    {"ms": 1.5}, {"text": None}, {"extra": 1}, {"outcome": "right"}, {"index": -1}, {"index": "1"}, {"text": "\ud800"},
])  # fmt: skip
def test_it_does_not_write_what_it_would_not_read(change: dict[str, Any]) -> None:
    with pytest.raises(Refused):
        write_outputs(RUN, digest("c"), [{**output(0), **change}])


def test_it_does_not_write_one_index_twice() -> None:
    with pytest.raises(Refused, match="has index 1 after 1"):
        write_outputs(RUN, digest("c"), [output(1), output(1)])


def test_prompts_are_messages_or_text() -> None:
    records = [{"index": 0, "messages": [{"role": "user", "content": "1 + 1?"}]}, {"index": 4, "prompt": "1 + 1 ="}]
    assert read_prompts(write_prompts(RELEASE, records)).records == records


@pytest.mark.parametrize("record", [
    {"index": 0}, {"index": 0, "prompt": "x", "messages": []}, {"index": 0, "messages": []}, {"index": 0, "prompt": 5},
    {"index": 0, "messages": [{"role": "judge", "content": "x"}]}, {"index": 0, "messages": [{"role": "user"}]},
    {"index": 0, "prompt": "x", "answer": "y"},
])  # fmt: skip
def test_prompts_hold_nothing_else_least_of_all_answers(record: dict[str, Any]) -> None:
    with pytest.raises(Refused):
        write_prompts(RELEASE, [record])


def test_answers_may_have_options_to_choose_from() -> None:
    records = [answer(0), answer(1, kind="choice", choices=["x", "y"]), answer(2, checker={"units": ["km"]})]
    assert read_answers(write_answers(RELEASE, records)).records == records


@pytest.mark.parametrize("change", [
    {"answer": []}, {"answer": "18"}, {"split": "reserve"}, {"checker": {"tolerance": 0.5}}, {"checker": []},
    {"choices": ["one"]}, {"group": ""}, {"prompt": "never"},
])  # fmt: skip
def test_answers_are_as_strict(change: dict[str, Any]) -> None:
    with pytest.raises(Refused):
        write_answers(RELEASE, [answer(0, **change)])


def test_a_line_separator_in_a_text_is_no_line_end() -> None:
    records = [output(0, "a\u2028b\u2029c\x85d\x00e")]
    assert read_outputs(write_outputs(RUN, digest("c"), records)).records == records


def test_twenty_thousand_lines_are_read_in_no_time() -> None:
    data = write_outputs(RUN, digest("c"), map(output, range(20_000)))
    started = time.process_time()
    read_outputs(data)
    assert time.process_time() - started < 2
