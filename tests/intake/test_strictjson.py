"""JSON as we take it: everything honest passes unchanged; places are told where the reader can be sure."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.errors import Refused
from evaluator.intake import strictjson

_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | _TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXT, inner, max_size=4),
    max_leaves=12,
)


@given(_VALUE, st.booleans())
def test_what_json_writes_is_read_back(value: Any, ascii_only: bool) -> None:
    assert strictjson.parse(json.dumps(value, ensure_ascii=ascii_only).encode(), "x") == value


def _place(text: str) -> str:
    with pytest.raises(Refused) as refusal:
        strictjson.parse(text.encode(), "x.json")
    return refusal.value.findings[0].where


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{"a": 1,\n"b": 2,\n"a": 3}', "x.json: line 3"),
        ('{"a": {"b": 1}, "c": {"b": 1},\n\n"d": {"e": 1, "e": 2}}', "x.json: line 3"),
        ('[{"a": ":"}, {"a": "{", "b": 1,\n"\\u0061": 2}]', "x.json: line 2"),
        ('{"a": 1,\n\n b}', "x.json: line 3, column 2"),
        ('{"a": 1,\n"b": "\\ud800"}', "x.json: at b"),
    ],
)
def test_it_tells_the_line(text: str, where: str) -> None:
    assert _place(text) == where


def test_depth_counts_containers() -> None:
    assert strictjson.parse(b"[[[1]]]", "x", depth=3) == [[[1]]]
    with pytest.raises(Refused):
        strictjson.parse(b"[[[[]]]]", "x", depth=3)


def test_forty_digits_are_a_number_and_more_are_not() -> None:
    assert strictjson.parse(b"9" * 40, "x") == int("9" * 40)
    with pytest.raises(Refused):
        strictjson.parse(b"9" * 41, "x")


def test_the_customary_length_without_limit_is_fine() -> None:
    assert strictjson.parse(b"1000000000000000019884624838656", "x") > 10**30


def test_a_pair_of_surrogates_is_one_character() -> None:
    assert strictjson.parse(b'"\\ud83d\\ude42"', "x") == "🙂"
