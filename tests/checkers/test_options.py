"""An item with gold or options that its own checker can't live with is not taken, and the finding says why."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.checkers import KINDS, checker, validate_options

OPTIONS = ["Rome", "Oslo", "Paris"]


def problems(kind: str, options: Any, answers: Any, choices: Any = None) -> str:
    return "\n".join(str(finding) for finding in validate_options(kind, options, answers, choices, "line 7"))


@pytest.mark.parametrize(("kind", "options", "answers", "choices", "says"), [
    ("essay", {}, ["x"], None, "choice, exact, numeric"),
    ("numeric", {"rule": "first"}, ["1"], None, '"rule" must be one of'),
    ("numeric", {"tolerence": "1"}, ["1"], None, '"tolerence" is no field'),
    ("numeric", {"tolerance": 1}, ["1"], None, '"tolerance" must be decimal text'),
    ("numeric", {"tolerance": "-1"}, ["1"], None, '"tolerance" must be decimal text'),
    ("numeric", {}, ["20%"], None, '"unit_rule"'),
    ("numeric", {}, ["5 km"], None, '"units"'),
    ("numeric", {"unit_rule": "ratio"}, ["5"], None, 'needs "units"'),
    ("numeric", {"unit_rule": "required", "units": ["km"]}, ["5"], None, "lacks the unit"),
    ("numeric", {}, ["3 or 4"], None, '"3 or 4" is not one number'),
    ("numeric", {}, ["2**3"], None, "is not one number"),
    ("numeric", {}, ["4", "four"], None, '"four" is not one number'),
    ("choice", {}, ["A"], None, '"choices"'),
    ("choice", {}, ["D"], OPTIONS, "neither a letter from A to C nor the text"),
    ("choice", {}, ["A"], ["Rome", "rome."], "the same after normalisation"),
    ("choice", {}, ["A"], ["B", "A"], "the letter of one option and the text of another"),
    ("choice", {"read": "whole"}, ["A"], OPTIONS, '"read" is no field'),
    ("choice", {}, ["A"], ["Rome", 5], "must be a list of text"),
    ("exact", {}, ["..."], None, "an empty output would be right"),
    ("exact", {}, ["two\nlines"], None, "fails its own checker"),
    ("exact", {}, ["The answer is 5"], None, "fails its own checker"),
    ("exact", {"case": "lower"}, ["x"], None, '"case" must be one of'),
    ("exact", {}, [], None, "1 to 100"),
    ("exact", {}, "Paris", None, "1 to 100"),
    ("exact", {}, [5], None, "must be text"),
    ("exact", {}, ["  "], None, "is blank"),
    ("exact", {}, ["a\0b"], None, "NUL"),
    ("exact", {}, ["a\ud800"], None, "lone surrogate"),
    ("exact", {}, ["x" * 5000], None, "longer than 4000"),
    ("exact", [], ["x"], None, "must be an object"),
])  # fmt: skip
def test_it_refuses_and_says_what_to_change(kind: str, options: Any, answers: Any, choices: Any, says: str) -> None:
    found = problems(kind, options, answers, choices)
    assert says in found
    assert found.startswith("line 7")


def test_it_takes_gold_whose_unit_is_stated() -> None:
    assert problems("numeric", {"units": ["km"], "unit_rule": "required"}, ["5 km"]) == ""


def test_a_finding_names_an_unwieldy_answer_shortly() -> None:
    assert len(problems("exact", {"case": "keep"}, ["x\n" * 1500])) < 400


@given(st.lists(st.text(max_size=30), min_size=1, max_size=3), st.sampled_from(sorted(KINDS)))
def test_whatever_is_taken_is_right_by_its_own_checker(answers: list[str], kind: str) -> None:
    choices = OPTIONS if kind == "choice" else None
    if not validate_options(kind, {}, answers, choices):
        item = checker(kind, answers, {}, choices)
        assert all(item.check(answer).right for answer in answers)
        assert not item.check("").right
