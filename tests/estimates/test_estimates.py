"""What an error bar promises: it does not depend on order, it covers what it says, it never claims too much."""

from __future__ import annotations

import random
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.estimates import (
    Estimate,
    Observation,
    coverage,
    decimal_text,
    estimate,
    estimate_items,
    minimum_detectable_difference,
    paired,
    worst_case,
)


def as_text(found: Estimate) -> tuple[str, ...]:
    error = found.standard_error or Decimal(0)
    return tuple(map(decimal_text, (found.mean, error, found.interval.low, found.interval.high)))


def observations(chance: random.Random, count: int, size: int, right: float = 0.7) -> list[Observation]:
    return [Observation(item, item // size, int(chance.random() < right)) for item in range(count)]


def test_the_order_of_items_changes_no_digit() -> None:
    chance = random.Random(5)
    items = [Observation(item, item // 4, Fraction(chance.randrange(7), 6)) for item in range(400)]
    texts = {as_text(estimate(chance.sample(items, len(items)))) for _ in range(20)}
    assert len(texts) == 1


def test_it_gives_these_very_digits_on_every_machine() -> None:
    found = estimate(Observation(item, item % 17, int(item * item % 7 < 4)) for item in range(300))
    assert as_text(found) == ("0.713333", "0.012140", "0.687597", "0.739070")
    assert found.interval.method == "clustered-t"


def test_repeats_are_averaged_within_an_item_first() -> None:
    once = estimate([Observation("a", 1, 1), Observation("b", 2, Fraction(1, 2)), Observation("c", 3, 0)])
    repeats = [("a", 1, [1]), ("b", 2, [1, 0, 1, 0]), ("c", 3, [0, 0])]
    again = estimate(Observation(item, cluster, score) for item, cluster, scores in repeats for score in scores)
    assert as_text(again) == as_text(once)
    assert again.items == 3


def test_an_item_in_two_clusters_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="two clusters"):
        estimate([Observation("a", 1, 1), Observation("a", 2, 1)])


def test_items_of_one_cluster_that_agree_count_as_few() -> None:
    alone = estimate(Observation(item, item, int(item < 200)) for item in range(400))
    together = estimate(Observation(item, item // 10, int(item < 200)) for item in range(400))
    assert together.standard_error is not None
    assert alone.standard_error is not None
    assert together.standard_error > 3 * alone.standard_error


def test_thirty_clusters_of_ten_are_covered_as_often_as_promised() -> None:
    """Scores that hang together within clusters: an interval that ignores them covers the truth in 60 % to 80 %."""
    chance, covered, ignorant = random.Random(11), 0, 0
    for _ in range(400):
        rates = [min(1.0, max(0.0, chance.gauss(0.5, 0.25))) for _ in range(30)]
        scores = [(cluster, int(chance.random() < rate)) for cluster, rate in enumerate(rates) for _ in range(10)]
        found = estimate_items(scores)
        naive = estimate_items([(item, score) for item, (_, score) in enumerate(scores)])
        covered += found.interval.low <= Decimal("0.5") <= found.interval.high
        ignorant += naive.interval.low <= Decimal("0.5") <= naive.interval.high
    assert covered / 400 > 0.92
    assert ignorant / 400 < 0.85


def test_below_ten_clusters_the_interval_is_no_narrower_than_the_clusters() -> None:
    found = estimate([Observation(item, item // 50, int(item % 50 < 10 * (1 + item // 50))) for item in range(200)])
    assert found.clusters == 4
    assert (found.interval.low, found.interval.high) <= (Decimal("0.2"), Decimal("0.8"))
    assert found.interval.high >= Decimal("0.8")


def test_nine_alike_clusters_and_one_unlike_widen_only_below_ten() -> None:
    nine = estimate([Observation(item, item // 10, int(item >= 10)) for item in range(90)])
    eleven = estimate([Observation(item, item // 10, int(item >= 10)) for item in range(110)])
    assert nine.interval.low == 0
    assert nine.interval.method.endswith("+range")
    assert eleven.interval.low > 0


def test_a_perfect_score_is_no_certainty() -> None:
    found = estimate([Observation(item, item // 3, 1) for item in range(36)])
    assert found.interval.high == 1
    assert Decimal("0.7") < found.interval.low < Decimal("0.8")
    assert found.interval.method == "wilson-clusters"


def test_one_cluster_says_nothing_about_the_error() -> None:
    found = estimate([Observation(item, "same", item % 2) for item in range(10)])
    assert found.standard_error is None
    assert (found.interval.low, found.interval.high, found.interval.method) == (0, 1, "none")


def test_no_items_is_no_score() -> None:
    with pytest.raises(ValueError, match="no items"):
        estimate([])


def test_a_paired_comparison_takes_the_items_that_both_have() -> None:
    first, second = {"a": 1, "b": 1, "c": 0, "x": 1}, {"a": 0, "b": 1, "c": 0, "y": 1}
    found = paired(first, second, {"a": 1, "b": 2, "c": 3})
    assert (found.mean, found.items) == (Fraction(1, 3), 3)


def test_a_paired_comparison_is_sharper_than_two_scores_apart() -> None:
    chance = random.Random(2)
    hard = [chance.random() for _ in range(500)]
    first, second = {}, {}
    for item, difficulty in enumerate(hard):
        first[item], second[item] = int(difficulty < 0.6), int(difficulty < 0.55)
    together = paired(first, second, dict(enumerate(range(500))))
    alone = estimate(Observation(item, item, score) for item, score in first.items())
    assert together.standard_error is not None
    assert alone.standard_error is not None
    assert together.interval.low > 0
    assert together.standard_error < alone.standard_error


def test_faults_lower_the_worst_case_and_the_coverage_only() -> None:
    assert (worst_case(40, 50), coverage(45, 50)) == (Fraction(4, 5), Fraction(9, 10))
    assert (worst_case(0, 0), coverage(0, 0)) == (0, 0)


def test_more_power_and_more_confidence_need_larger_differences() -> None:
    error = Decimal("0.01")
    assert minimum_detectable_difference(error) < minimum_detectable_difference(error, power="0.90")
    assert minimum_detectable_difference(error) < minimum_detectable_difference(error, confidence="0.99")
    assert decimal_text(minimum_detectable_difference(error)) == "0.028016"


@pytest.mark.parametrize(("value", "text"), [
    (Fraction(1, 3), "0.333333"), (1, "1.000000"), (Fraction(25, 10**7), "0.000002"), (Fraction(35, 10**7), "0.000004"),
    (Decimal("0.0000005"), "0.000000"), (Decimal("0.0000015"), "0.000002"), (Fraction(-1, 10**9), "0.000000"),
    (Decimal("-0.0000001"), "0.000000"), (Fraction(-1, 8), "-0.125000"),
])  # fmt: skip
def test_records_hold_six_places_rounded_half_to_even(value: Fraction | Decimal | int, text: str) -> None:
    assert decimal_text(value) == text


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 1)), min_size=1, max_size=60))
def test_an_interval_holds_its_score_and_stays_on_the_scale(scores: list[tuple[int, int]]) -> None:
    found = estimate_items(scores)
    # Six places are what anybody sees; a root has fifty digits and not infinitely many.
    low, score, high = (decimal_text(value) for value in (found.interval.low, found.mean, found.interval.high))
    assert "0.000000" <= low <= score <= high <= "1.000000"
    assert found.clusters == len({cluster for cluster, _ in scores})
