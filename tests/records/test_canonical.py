"""Canonical JSON: the quick encoder writes what RFC 8785 says, and refuses what no record may hold."""

from __future__ import annotations

import json
from collections import namedtuple
from types import MappingProxyType
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from evaluator.records.canonical import canonical, canonical_of_checked, digest, lines
from evaluator.records.outcomes import Outcome

TEXT = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=12)
SCALARS = st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | TEXT
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4), max_leaves=20
)
Point = namedtuple("Point", "x y")


@given(VALUES)
def test_it_writes_the_bytes_of_rfc_8785(value: Any) -> None:
    assert canonical(value) == rfc8785.dumps(value)


@given(VALUES)
def test_what_was_written_reads_back_and_writes_the_same(value: Any) -> None:
    assert canonical(json.loads(canonical(value))) == canonical(value)


@given(st.dictionaries(st.text(alphabet="abcXYZ_", max_size=5), SCALARS, max_size=5))
def test_the_encoder_for_checked_records_writes_the_same(value: dict[str, Any]) -> None:
    assert canonical_of_checked(value) == canonical(value)


@pytest.mark.parametrize("value", [
    1.0, float("nan"), [1, 2.5], {"a": {"b": 1.5}}, 2**53, [-(2**53)], [1, 2**70], "\ud800", {"\ud800": 1}, {1: 2},
    {True: 1}, {None: 1}, b"bytes", object(), {1, 2}, {"a": object()},
])  # fmt: skip
def test_it_refuses_what_has_no_single_form(value: Any) -> None:
    with pytest.raises(ValueError, match=r"form|exact range|keys|floats|surrogate|UTF-8|utf-8"):
        canonical(value)


def test_it_refuses_nesting_that_nothing_reads() -> None:
    value: Any = 1
    for _ in range(400):
        value = [value]
    with pytest.raises(ValueError, match="nested too deeply"):
        canonical(value)


def test_keys_outside_ascii_sort_by_utf_16() -> None:
    assert canonical({"\ufb33": 1, "\U0001f600": 2}) == '{"\U0001f600":2,"\ufb33":1}'.encode()


def test_enumerations_named_tuples_and_views_are_their_values() -> None:
    values = [Outcome.LIMIT, Point(1, 2), MappingProxyType({"b": 1, "a": 2})]
    assert canonical(values) == b'["limit",[1,2],{"a":2,"b":1}]'


def test_line_separators_and_control_characters_stay_within_their_line() -> None:
    assert lines([{"a": "\u2028\n\x00"}, {"b": 1}]) == b'{"a":"\xe2\x80\xa8\\n\\u0000"}\n{"b":1}\n'


def test_a_digest_names_its_algorithm() -> None:
    assert digest({}) == "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
