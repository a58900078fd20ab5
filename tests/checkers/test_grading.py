"""A grade is a pure function: same outputs, answers, grader and configuration, same bytes. One difference, another."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import Any

import pytest

from evaluator.checkers.grading import grade
from evaluator.checkers.identity import grader_digest
from evaluator.errors import Refused
from evaluator.records.scorecard import GradingConfig, Scorecard, statement, statement_bytes
from evaluator.records.verdicts import read_verdicts
from tests.records.samples import RUN, answer, answers, digest, fault, output, outputs

CONFIG = GradingConfig()


def run_of(count: int, seed: int = 1) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    chance = random.Random(seed)
    said = [output(index, "18" if chance.random() < 0.6 else "The answer is 17.") for index in range(count)]
    gold = [
        answer(index, group=f"g{index // 3}", split="practice" if index % 5 == 0 else "active")
        for index in range(count)
    ]
    return said, gold


def test_whatever_the_order_the_bytes_are_the_same() -> None:
    said, gold = run_of(200)
    first = grade(outputs(said), answers(gold), CONFIG)
    shuffled_answers = replace(answers(gold), records=random.Random(3).sample(gold, len(gold)))
    shuffled_outputs = replace(outputs(said), records=random.Random(4).sample(said, len(said)))
    again = grade(shuffled_outputs, shuffled_answers, CONFIG)
    assert (again.pack, again.records) == (first.pack, first.records)
    assert statement_bytes(again.scorecard) == statement_bytes(first.scorecard)


@pytest.mark.parametrize("change", [
    {"text": "17"}, {"outcome": "limit"}, {"ms": 13}, {"tokens": [1]}, {"prompt_sha256": "c" * 64},
])  # fmt: skip
def test_one_difference_in_the_outputs_makes_another_scorecard(change: dict[str, Any]) -> None:
    said, gold = run_of(20)
    before = grade(outputs(said), answers(gold), CONFIG).scorecard.digest
    said[7] = {**output(7), **change}
    assert grade(outputs(said), answers(gold), CONFIG).scorecard.digest != before


@pytest.mark.parametrize("change", [
    {"answer": ["19"]}, {"group": "other"}, {"category": "other"}, {"checker": {"rule": "last"}}, {"split": "practice"},
])  # fmt: skip
def test_one_difference_in_the_answers_makes_another_scorecard(change: dict[str, Any]) -> None:
    said, gold = run_of(20)
    before = grade(outputs(said), answers(gold), CONFIG).scorecard.digest
    gold[7] = {**gold[7], **change}
    assert grade(outputs(said), answers(gold), CONFIG).scorecard.digest != before


def test_another_grader_or_configuration_makes_another_scorecard() -> None:
    said, gold = run_of(20)
    ours = grade(outputs(said), answers(gold), CONFIG).scorecard
    assert ours.grader == grader_digest()
    other = grade(outputs(said), answers(gold), CONFIG, grader=digest("e")).scorecard
    strict = grade(outputs(said), answers(gold), GradingConfig(coverage_gate="1")).scorecard
    assert len({ours.digest, other.digest, strict.digest}) == 3


def test_a_fault_is_never_scored_and_shows_in_coverage_and_worst_case() -> None:
    said = [output(0), output(1), output(2, "17"), fault(3)]
    figures = grade(outputs(said), answers([answer(index) for index in range(4)]), CONFIG).scorecard.hidden
    assert figures is not None
    assert (figures.items, figures.valid, figures.score) == (4, 3, "0.666667")
    assert (figures.worst, figures.coverage, figures.faults) == ("0.500000", "0.750000", {"engine": 1})
    assert figures.outcomes == {"answered": 3, "fault": 1}


def test_near_duplicates_count_as_one_cluster() -> None:
    said = [output(index, "18" if index < 6 else "17") for index in range(12)]
    apart = [answer(index) for index in range(12)]
    together = [answer(index, group=f"g{index // 2}") for index in range(12)]
    one, other = (grade(outputs(said), answers(gold), CONFIG).scorecard.hidden for gold in (apart, together))
    assert one is not None
    assert other is not None
    assert (one.clusters, other.clusters) == (12, 6)
    assert (one.standard_error, other.standard_error) == ("0.150756", "0.223607")


def test_items_that_hit_a_limit_are_graded_on_what_is_there() -> None:
    said = [output(0, "#### 18 and on", outcome="limit", detail="length"), output(1, "", outcome="context")]
    records = grade(outputs(said), answers([answer(0), answer(1)]), CONFIG).records
    assert [(record["score"], record["reason"]) for record in records] == [("1", "equal"), ("0", "no-answer")]


def test_hidden_and_practice_items_are_never_mixed() -> None:
    said = [output(0), output(1), output(2, "17"), output(3, "17")]
    gold = [answer(index, split="practice" if index < 2 else "active") for index in range(4)]
    card = grade(outputs(said), answers(gold), CONFIG).scorecard
    assert card.hidden is not None
    assert card.practice is not None
    assert (card.hidden.score, card.practice.score) == ("0.000000", "1.000000")


def test_a_run_below_the_gate_is_not_ranked_and_one_at_it_is() -> None:
    gold = answers([answer(index) for index in range(20)])
    said = [output(index) for index in range(19)] + [fault(19)]
    assert grade(outputs(said), gold, GradingConfig(coverage_gate="0.95")).scorecard.ranked
    assert not grade(outputs(said), gold, GradingConfig(coverage_gate="0.96")).scorecard.ranked


def test_a_run_of_nothing_but_faults_has_no_score() -> None:
    card = grade(outputs([fault(0, "odd")]), answers([answer(0)]), GradingConfig(coverage_gate="0")).scorecard
    assert card.hidden is not None
    assert (card.hidden.score, card.hidden.low, card.hidden.worst, card.ranked) == (None, None, "0.000000", False)
    assert card.hidden.faults == {"unknown": 1}


def test_a_release_without_practice_items_has_no_practice_figures() -> None:
    assert grade(outputs([output(0)]), answers([answer(0)]), CONFIG).scorecard.practice is None


@pytest.mark.parametrize(("said", "gold"), [([0, 1], [0, 1, 2]), ([0, 1, 2], [0, 1]), ([0, 2], [0, 1])])
def test_a_lost_or_unknown_item_is_refused(said: list[int], gold: list[int]) -> None:
    with pytest.raises(Refused, match="no output"):
        grade(outputs([output(index) for index in said]), answers([answer(index) for index in gold]), CONFIG)


def test_gold_that_its_checker_cannot_read_is_refused() -> None:
    with pytest.raises(Refused, match="answer 0: is not one number"):
        grade(outputs([output(0)]), answers([answer(0, gold="four")]), CONFIG)


def test_the_verdicts_pack_cites_what_it_stands_on() -> None:
    said, gold = outputs([output(0)]), answers([answer(0)])
    graded = grade(said, gold, CONFIG)
    pack = read_verdicts(graded.pack)
    assert pack.header == {
        "format": "heldout.verdicts/1", "run": RUN, "runspec": digest("c"), "outputs": said.digest,
        "answers": gold.digest, "grader": grader_digest(), "count": 1,
    }  # fmt: skip
    assert pack.digest == graded.scorecard.verdicts
    assert pack.records == graded.records


def test_the_statement_is_an_in_toto_statement_about_outputs_and_verdicts() -> None:
    card = grade(outputs([output(0)]), answers([answer(0)]), CONFIG).scorecard
    made = statement(card)
    assert made["_type"] == "https://in-toto.io/Statement/v1"
    assert [subject["name"] for subject in made["subject"]] == ["outputs", "verdicts"]
    assert made["subject"][1]["digest"]["sha256"] == card.verdicts[7:]
    assert Scorecard.from_json(json.loads(statement_bytes(card))["predicate"], "statement").digest == card.digest


def test_run_on_answers_can_be_counted() -> None:
    said = [output(0, "#### 18\nQ: more?\n#### 19"), output(1)]
    figures = grade(outputs(said), answers([answer(0), answer(1)]), CONFIG).scorecard.hidden
    assert figures is not None
    assert figures.reasons == {"equal": 1, "equal+run-on": 1}
