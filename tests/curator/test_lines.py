"""Bytes to records: what other tools write, what is no JSON, and where exactly."""

from __future__ import annotations

import io
import json
import resource
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.curator import importing
from evaluator.curator.lines import DEEPEST, LONGEST_LINE
from evaluator.errors import Refused
from tests.curator.conftest import NAME, findings, good, line

Places = Callable[[bytes], list[tuple[str, str]]]
TWO = line(1) + line(2)


def receipt(data: bytes) -> importing.Receipt:
    return importing.check(io.BytesIO(data), NAME)


def test_a_byte_order_mark_is_dropped_and_noted() -> None:
    marked = receipt(b"\xef\xbb\xbf" + TWO)
    assert marked.items == 2
    assert marked.notes == ("A byte-order mark was dropped.",)
    assert marked.original != receipt(TWO).original
    assert marked.normalised == receipt(TWO).normalised


def test_windows_line_ends_give_the_same_normalised_digest() -> None:
    windows = receipt(TWO.replace(b"\n", b"\r\n"))
    assert windows.normalised == receipt(TWO).normalised
    assert windows.original != receipt(TWO).original
    assert windows.notes[0].startswith("2 lines ended with carriage return")


def test_blank_lines_and_a_missing_last_line_feed_do_not_matter() -> None:
    spaced = receipt(b"\n  \t\r\n" + line(1) + b"\n" + line(2).rstrip(b"\n"))
    assert (spaced.items, spaced.normalised) == (2, receipt(TWO).normalised)


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85", "\x0b", "\x1c"])
def test_other_separators_stay_inside_a_text(separator: str) -> None:
    text = f"before{separator}after"
    data = json.dumps(good(prompt=text), ensure_ascii=separator < " ").encode()
    _, [item] = importing.load(io.BytesIO(data), NAME)
    assert item.asked() == {"prompt": text}


@pytest.mark.parametrize("data", [b"", b"\n\n", b" \r\n\t", b"\xef\xbb\xbf"])
def test_an_empty_file_is_refused(data: bytes) -> None:
    [found] = findings(data)
    assert (found.code, found.where) == ("items.empty", NAME)


def test_each_mistake_is_told_by_its_line_and_column(places: Places) -> None:
    data = b"\n" + line(1) + b"\n" + b'{"id": "x" "kind"}\n' + b"[]\n" + b"3\n"
    assert places(data) == [
        ("json", "line 4, column 12"),
        ("object", "line 5, column 1"),
        ("object", "line 6, column 1"),
    ]


@pytest.mark.parametrize(
    ("broken", "code", "column"),
    [
        (b'{"id": "a", "x": NaN}', "not-a-number", 18),
        (b'{"id": "NaN", "x": [1, -Infinity]}', "not-a-number", 24),
        (b'{"a": 1, "b": {"c": 1, "c": 2}}', "duplicate-key", 24),
        (b'{"m": [{"c": 1}, {"c": 2, "d": 3}], "m": 1}', "duplicate-key", 37),
        (b'{"a": 9007199254740993}', "huge-number", 7),
        (b'{"a": 1e999}', "huge-number", 7),
        (b'{"a": ' + b"9" * 5000 + b"}", "huge-number", 7),
        (b'{"a": "x\\u0000y"}', "nul", 9),
        (b'{"a": "\\\\u0041 \\u0000"}', "nul", 16),
        (b'{"a": "x\x00y"}', "nul", 9),
        (b'{"a": "\\udc00"}', "surrogate", 8),
        (b'{"a": "\\ud83d\\ude00 \\ud83d"}', "surrogate", 21),
        (b'{"\\ud800": 1}', "surrogate", 3),
        (b'{"a": "\xc3\xa9\xff"}', "utf8", 9),
        (b'{"a": "\xed\xa0\x80"}', "utf8", 8),
        (b'{"a": "tab\there"}', "json", 11),
        (b'{"a": 01}', "json", 8),
        (b"\x0b", "json", 1),
        (b"{'a': 1}", "json", 2),
        (b'{"a": 1} {"b": 2}', "json", 10),
        (b'{"a": "open', "json", 7),
    ],
)  # fmt: skip
def test_what_is_no_record_is_refused_at_its_column(places: Places, broken: bytes, code: str, column: int) -> None:
    assert places(line(1) + broken + b"\n" + line(2)) == [(code, f"line 2, column {column}")]


def test_an_escaped_backslash_before_u0000_is_plain_text() -> None:
    assert receipt(json.dumps(good(prompt=r"print \u0000 and \ud800")).encode()).items == 1


def test_a_surrogate_pair_written_as_escapes_is_one_character() -> None:
    _, [item] = importing.load(io.BytesIO(json.dumps(good(prompt="\U0001f600 2 =")).encode()), NAME)
    assert item.asked() == {"prompt": "\U0001f600 2 ="}


def test_deep_nesting_is_refused_without_recursion(places: Places) -> None:
    deep = b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"
    assert places(deep) == [("too-deep", "line 1, column 1")]


def test_brackets_inside_a_text_are_not_nesting() -> None:
    assert receipt(line(prompt="[" * (DEEPEST + 5) + '\\" {')).items == 1


def test_utf_16_is_named_as_such(places: Places) -> None:
    assert places(TWO.decode().encode("utf-16")) == [("utf8", "line 1, column 1")]
    assert "UTF-16" in findings(TWO.decode().encode("utf-16"))[0].problem


def test_a_line_may_be_as_long_as_the_cap_and_no_byte_longer(places: Places) -> None:
    room = LONGEST_LINE - len(line(prompt=".").rstrip(b"\n"))
    for ending in (b"\n", b"\r\n", b""):
        assert receipt(line(prompt="." * (room + 1)).rstrip(b"\n") + ending).items == 1
        too_long = line(prompt="." * (room + 2)).rstrip(b"\n") + ending
        assert places(too_long) == [("line-too-long", "line 1, column 1")]


class Endless(io.RawIOBase):
    """A file of one line without end, that counts what was taken from it."""

    taken = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        assert self.taken < 64 * LONGEST_LINE, "the whole line is being read"
        view = memoryview(buffer)  # type: ignore[arg-type]
        view[:] = b"x" * len(view)
        self.taken += len(view)
        return len(view)


def test_an_endless_line_is_not_read_to_its_end() -> None:
    endless = Endless()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(Refused, match="longer than 1048576 bytes"):
        importing.check(io.BufferedReader(endless), NAME)
    assert endless.taken < 4 * LONGEST_LINE
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 32 << 10


def test_the_list_of_mistakes_is_capped_and_says_so() -> None:
    found = findings(b"{\n" * 5000)
    assert len(found) == importing.MOST_FINDINGS + 1
    assert found[-1].code == "items.more"


def test_a_file_of_something_else_is_not_read_to_its_end() -> None:
    stream = io.BytesIO(b"{\n" * 1_000_000)
    with pytest.raises(Refused):
        importing.check(stream, NAME)
    assert stream.tell() < 1000


@given(st.binary(max_size=200))
def test_any_bytes_are_taken_or_refused_and_nothing_else(data: bytes) -> None:
    assert findings(data)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), min_size=1, max_size=5))
def test_any_text_comes_back_unchanged(texts: list[str]) -> None:
    prompts = [f"{number} {text}" for number, text in enumerate(texts)]
    data = b"".join(line(number, prompt=text) for number, text in enumerate(prompts))
    _, found = importing.load(io.BytesIO(data), NAME)
    assert [item.asked()["prompt"] for item in found] == prompts
