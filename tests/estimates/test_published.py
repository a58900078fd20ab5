"""Against published tables, worked examples and other people's implementations."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import sqrt

import pytest
from scipy import stats

from evaluator.estimates import (
    Observation,
    decimal_text,
    estimate,
    mcnemar,
    minimum_detectable_difference,
    normal_quantile,
    paired,
    t_quantile,
    wilson,
)

# Student's t, two-sided 95 % and 99 %, as printed in the tables of every textbook since Fisher and Yates.
T_TABLE = {
    1: (12.706, 63.657), 2: (4.303, 9.925), 3: (3.182, 5.841), 4: (2.776, 4.604), 5: (2.571, 4.032), 6: (2.447, 3.707),
    7: (2.365, 3.499), 8: (2.306, 3.355), 9: (2.262, 3.250), 10: (2.228, 3.169), 12: (2.179, 3.055), 15: (2.131, 2.947),
    20: (2.086, 2.845), 24: (2.064, 2.797), 28: (2.048, 2.763), 29: (2.045, 2.756), 30: (2.042, 2.750),
    60: (2.000, 2.660), 120: (1.980, 2.617),
}  # fmt: skip

# R. G. Newcombe, Two-sided confidence intervals for the single proportion, Statistics in Medicine 17 (1998), table I,
# method 3: successes, trials, and the limits as printed.
NEWCOMBE = [
    (81, 263, "0.2553", "0.3662"), (15, 148, "0.0624", "0.1605"), (0, 20, "0.0000", "0.1611"),
    (1, 29, "0.0061", "0.1718"),
]  # fmt: skip

SCORES = [1, 1, 0, 0, 0, 1, 1, 1, 1, 0, 1, 1, 0, 0, 1, 0, 0, 1, 1, 0, 1, 1, 0, 1, 0]
CLUSTERS = [0, 0, 0, 1, 1, 2, 2, 2, 2, 3, 3, 4, 4, 4, 5, 6, 6, 7, 7, 7, 8, 8, 9, 10, 10]


@pytest.mark.parametrize("freedom", sorted(T_TABLE))
def test_quantiles_of_student_are_those_of_the_tables(freedom: int) -> None:
    assert (round(t_quantile(0.975, freedom), 3), round(t_quantile(0.995, freedom), 3)) == T_TABLE[freedom]


@pytest.mark.parametrize("probability", [0.6, 0.9, 0.95, 0.975, 0.995, 0.9995])
def test_quantiles_of_student_agree_with_scipy_to_ten_digits(probability: float) -> None:
    for freedom in (*range(1, 40), 99, 500):
        assert t_quantile(probability, freedom) == pytest.approx(stats.t.ppf(probability, freedom), rel=1e-10)


def test_quantiles_of_the_normal_distribution_are_those_of_the_tables() -> None:
    assert (normal_quantile(0.975), normal_quantile(0.8)) == (1.959963984540, 0.841621233573)


@pytest.mark.parametrize(("right", "count", "low", "high"), NEWCOMBE)
def test_wilson_gives_newcombes_limits(right: int, count: int, low: str, high: str) -> None:
    found = wilson(Fraction(right, count), count)
    assert (decimal_text(found[0], 4), decimal_text(found[1], 4)) == (low, high)


def test_wilson_ends_at_the_ends_of_the_scale() -> None:
    for count in (1, 7, 20, 1000):
        assert (wilson(Fraction(0), count)[0], wilson(Fraction(1), count)[1]) == (0, 1)


def test_wilson_agrees_with_scipy() -> None:
    for right, count in [(0, 1), (1, 1), (3, 7), (50, 50), (699, 1000)]:
        theirs = stats.binomtest(right, count).proportion_ci(method="wilson")
        ours = wilson(Fraction(right, count), count)
        assert [float(end) for end in ours] == pytest.approx([theirs.low, theirs.high], abs=1e-11)


@pytest.mark.parametrize(("first", "second"), [(86, 150), (3, 14), (0, 5), (5, 5), (1, 9), (0, 0), (700, 800)])
def test_mcnemar_is_the_exact_binomial_test(first: int, second: int) -> None:
    theirs = stats.binomtest(first, first + second).pvalue if first + second else 1.0
    assert float(mcnemar(first, second)) == pytest.approx(theirs, rel=1e-9)


def test_mcnemar_on_agrestis_approval_ratings() -> None:
    # A. Agresti, Categorical Data Analysis: 86 and 150 changed their minds; z^2 = 17.36, p below 0.0001.
    assert mcnemar(86, 150) < Fraction(1, 10_000)


def test_the_clustered_error_is_that_of_statsmodels() -> None:
    # statsmodels 0.15: OLS on a constant, cov_type="cluster", use_t=True; eleven clusters of one to four items.
    found = estimate(Observation(item, CLUSTERS[item], score) for item, score in enumerate(SCORES))
    assert found.standard_error is not None
    assert float(found.standard_error) == pytest.approx(0.11553285, abs=5e-9)
    assert [float(found.interval.low), float(found.interval.high)] == pytest.approx([0.30257676, 0.81742324], abs=5e-9)
    assert (found.interval.method, found.clusters, found.items) == ("clustered-t", 11, 25)


def test_the_paired_error_is_that_of_statsmodels_on_the_differences() -> None:
    first, second = dict(enumerate(SCORES)), dict(enumerate(SCORES[3:] + SCORES[:3]))
    found = paired(first, second, dict(enumerate(CLUSTERS)))
    assert found.standard_error is not None
    assert (found.mean, round(float(found.standard_error), 8)) == (0, 0.13266499)


def test_with_each_item_a_cluster_of_its_own_the_error_is_the_textbooks() -> None:
    found = estimate(Observation(item, item, score) for item, score in enumerate(SCORES))
    mean, count = sum(SCORES) / len(SCORES), len(SCORES)
    assert found.standard_error is not None
    textbook = sqrt(sum((score - mean) ** 2 for score in SCORES) / (count * (count - 1)))
    assert float(found.standard_error) == pytest.approx(textbook, rel=1e-12)


@pytest.mark.parametrize(("count", "unpaired", "half_correlated", "clustered"), [
    (200, "12.8", "9.1", "13.5"), (500, "8.1", "5.7", "8.5"), (1000, "5.7", "4.1", "6.0"), (2000, "4.1", "2.9", "4.3"),
    (5000, "2.6", "1.8", "2.7"),
])  # fmt: skip
def test_detectable_differences_are_those_of_the_planning_table(
    count: int, unpaired: str, half_correlated: str, clustered: str
) -> None:
    """At 70 % accuracy; in the last column clusters of 5 whose items correlate by 0.3."""
    error = sqrt(0.7 * 0.3 / count)
    for of_difference, printed in (
        (sqrt(2) * error, unpaired), (error, half_correlated), (error * sqrt(1 + 4 * 0.3), clustered),
    ):  # fmt: skip
        points = minimum_detectable_difference(Decimal(repr(of_difference))) * 100
        assert decimal_text(points, 1) == printed
