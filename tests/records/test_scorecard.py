"""Scorecards read back strictly, and counts that contradict each other are refused."""

from __future__ import annotations

from typing import Any

import pytest

from evaluator.checkers.grading import grade
from evaluator.errors import Refused
from evaluator.records.scorecard import GradingConfig, Scorecard
from tests.records.samples import answer, answers, fault, output, outputs


@pytest.fixture
def body() -> dict[str, Any]:
    said = outputs([output(0), output(1, "17"), fault(2), output(3)])
    gold = answers([answer(0), answer(1), answer(2), answer(3, split="practice")])
    return grade(said, gold, GradingConfig()).scorecard.as_json()


def test_it_reads_back_with_the_same_digest(body: dict[str, Any]) -> None:
    card = Scorecard.from_json(body, "scorecard")
    assert card.as_json() == body
    assert card.practice is not None
    assert card.practice.score == "1.000000"


def test_practice_figures_may_be_missing(body: dict[str, Any]) -> None:
    assert Scorecard.from_json({**body, "practice": None}, "scorecard").practice is None


@pytest.mark.parametrize("change", [
    {"score": 0.5}, {"score": "1.5"}, {"score": None}, {"valid": 3}, {"items": 4}, {"outcomes": {"answered": 4}},
    {"outcomes": {"answered": 2, "wrong": 1}}, {"faults": {}}, {"faults": {"gremlin": 1}}, {"reasons": {"equal": 1}},
    {"extra": 1},
])  # fmt: skip
def test_figures_that_cannot_be_are_refused(body: dict[str, Any], change: dict[str, Any]) -> None:
    body["hidden"] = {**body["hidden"], **change}
    with pytest.raises(Refused, match="scorecard, hidden"):
        Scorecard.from_json(body, "scorecard")


def test_digests_are_digests(body: dict[str, Any]) -> None:
    with pytest.raises(Refused, match='"grader" must be'):
        Scorecard.from_json({**body, "grader": "abc"}, "scorecard")


def test_the_configuration_is_strict_and_has_a_digest() -> None:
    assert GradingConfig().digest == GradingConfig(confidence="0.95").digest != GradingConfig(confidence="0.90").digest
    with pytest.raises(Refused, match='"confidence" must be one of'):
        GradingConfig(confidence="0.5").checked("configuration")
