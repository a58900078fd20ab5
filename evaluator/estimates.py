"""Error bars: what a score is worth. Pure Python; exact where it can be, so that every machine prints the same.

Sums, means and variances are exact fractions, so the order of items can't matter. Roots are taken in decimal arithmetic
with 50 digits, quantiles with additions, multiplications, divisions and square roots alone, all of which IEEE 754 fixes
to the last bit. What goes into a record is decimal text, rounded half to even at six places.

    standard error   clustered by near-duplicate group, with the small-sample factor C/(C-1):
                     SE^2 = C/(C-1) * sum_c (sum_{i in c} (s_i - m))^2 / n^2
                     (Liang and Zeger 1986; Miller 2024, "Adding error bars to evals". With each item a cluster of its
                     own this is s^2/n exactly.)
    interval         independent 0/1 scores: Wilson 1927. Otherwise mean and t quantile with C-1 degrees of freedom,
                     from 30 clusters on the normal quantile; cut at the ends of the scale. Where SE is nought, Wilson
                     with the clusters as its n: all right on 12 clusters is no certainty. Below 10 clusters never
                     narrower than the range of the clusters' means.
    repeats          averaged within an item first; then items are averaged.
    comparison       paired: the same formulas on the differences item by item; McNemar's exact test for 0/1 scores.
    detectable       (z_{1-alpha/2} + z_{power}) * SE of the difference: 2.80 SE at 5 % and 80 %.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from math import pi, sqrt
from statistics import NormalDist
from typing import NamedTuple

Score = int | Fraction

FEW_CLUSTERS = 30
"""Below this many, quantiles come from Student's t."""
VERY_FEW_CLUSTERS = 10
"""Below this many, an interval is never narrower than the range of the clusters' means."""

_EXACT = Context(prec=50, rounding=ROUND_HALF_EVEN)


class Observation(NamedTuple):
    """One score of one item. An item may have several (repeats); a cluster is its near-duplicate group."""

    item: Hashable
    cluster: Hashable
    score: Score


class Interval(NamedTuple):
    """Both ends and how they were found."""

    low: Decimal
    high: Decimal
    method: str


class Estimate(NamedTuple):
    """A mean with its error. ``standard_error`` is ``None`` with fewer than two clusters: nothing is known then."""

    mean: Fraction
    standard_error: Decimal | None
    interval: Interval
    items: int
    clusters: int


class _Clusters(NamedTuple):
    """Items and sum of scores per cluster, and both in all."""

    sizes: list[int]
    sums: list[Score]
    items: int
    total: Score


def decimal_text(value: Fraction | Decimal | int, places: int = 6) -> str:
    """``value`` as records hold it: rounded half to even, always ``places`` places, never in exponent form.

    >>> decimal_text(Fraction(2, 3)), decimal_text(1), decimal_text(Fraction(5, 10**7))
    ('0.666667', '1.000000', '0.000000')
    """
    if not isinstance(value, Decimal):
        scaled = Fraction(value) * 10**places
        return f"{Decimal(round(scaled)).scaleb(-places):f}"
    rounded = value.quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_EVEN)
    return f"{abs(rounded) if rounded.is_zero() else rounded:f}"


def estimate(observations: Iterable[Observation], confidence: str = "0.95") -> Estimate:
    """Mean score between 0 and 1 with clustered standard error and interval. Raises ``ValueError`` without any item."""
    return estimate_items(_item_means(observations), confidence)


def estimate_items(items: Iterable[tuple[Hashable, Score]], confidence: str = "0.95") -> Estimate:
    """The same from cluster and score of each item, for the usual case that each item has one score."""
    clusters = _clustered(items)
    independent = len(clusters.sizes) == clusters.items and all([score in {0, 1} for score in clusters.sums])
    return _estimated(clusters, confidence, low=0, wilson_for_all=independent)


def paired(
    first: Mapping[Hashable, Score], second: Mapping[Hashable, Score], clusters: Mapping[Hashable, Hashable],
    confidence: str = "0.95",
) -> Estimate:  # fmt: skip
    """Mean of ``first`` minus ``second`` over the items that both have, between -1 and 1, clustered."""
    common = first.keys() & second.keys()
    differences = _clustered((clusters[item], first[item] - second[item]) for item in common)
    return _estimated(differences, confidence, low=-1, wilson_for_all=False)


def mcnemar(only_first: int, only_second: int) -> Fraction:
    """Two-sided exact p-value for two models on the same 0/1 items (McNemar 1947, binomial form).

    ``only_first`` counts the items that the first alone has right. Under no difference each such item is a fair coin.

    >>> mcnemar(1, 9)
    Fraction(11, 512)
    """
    discordant, smaller = only_first + only_second, min(only_first, only_second)
    term = tail = 1
    for wrong in range(1, smaller + 1):
        term = term * (discordant - wrong + 1) // wrong
        tail += term
    return min(Fraction(1), Fraction(2 * tail, 2**discordant))


def minimum_detectable_difference(standard_error: Decimal, confidence: str = "0.95", power: str = "0.80") -> Decimal:
    """The true difference that would be found with ``power``; ``standard_error`` is that of the difference."""
    quantiles = normal_quantile(_upper(confidence)) + normal_quantile(float(power))
    return _EXACT.multiply(_decimal(quantiles), standard_error)


def coverage(valid: int, items: int) -> Fraction:
    """Share of items with a scored outcome. Nothing to score is nothing covered."""
    return Fraction(valid, items) if items else Fraction(0)


def worst_case(total: Score, items: int) -> Fraction:
    """The score if every fault had been a wrong answer: the sum of scores over all items."""
    return Fraction(total) / items if items else Fraction(0)


def wilson(mean: Fraction, count: int, confidence: str = "0.95") -> tuple[Decimal, Decimal]:
    """Wilson's score interval for a proportion ``mean`` of ``count`` independent trials (Wilson 1927)."""
    exact = _EXACT
    z, n, p = _decimal(normal_quantile(_upper(confidence))), Decimal(count), _ratio(mean)
    z2 = exact.multiply(z, z)
    centre = exact.add(p, exact.divide(z2, 2 * n))
    spread = exact.divide(exact.multiply(p, 1 - p), n)
    half = exact.multiply(z, exact.sqrt(exact.add(spread, exact.divide(z2, 4 * n * n))))
    scale = exact.add(1, exact.divide(z2, n))
    low, high = exact.divide(exact.subtract(centre, half), scale), exact.divide(exact.add(centre, half), scale)
    # At the ends the formula gives 0 and 1; what rounding leaves of them is taken off.
    return (Decimal(0) if mean == 0 else max(Decimal(0), low)), (Decimal(1) if mean == 1 else min(Decimal(1), high))


def normal_quantile(probability: float) -> float:
    """Quantile of the standard normal distribution to twelve places, which every machine agrees on."""
    return round(NormalDist().inv_cdf(probability), 12)


@lru_cache(maxsize=1024)
def t_quantile(probability: float, freedom: int) -> float:
    """Quantile of Student's t for ``probability`` of at least 0.5, by bisection; to twelve significant digits."""
    low, high = 0.0, 1.0
    while _t_cdf(high, freedom) < probability:
        high *= 2
    while high - low > 1e-14 * high:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if _t_cdf(middle, freedom) < probability else (low, middle)
    return float(f"{high:.12g}")


def _t_cdf(t: float, freedom: int) -> float:
    """P(T <= t) for t >= 0: 1 - I_x(v/2, 1/2)/2 with x = v/(v + t^2) (Abramowitz and Stegun 26.7.1, 26.5.27)."""
    square = t * t
    return 1 - _incomplete_beta(freedom, freedom / (freedom + square), square / (freedom + square)) / 2


def _incomplete_beta(freedom: int, x: float, rest: float) -> float:
    """I_x(v/2, 1/2), where ``rest`` is 1 - x. Only basic operations and roots: no logarithm, no gamma function."""
    a, b = freedom / 2, 0.5
    front = sqrt(x) ** (freedom % 2) * _whole_power(x, freedom // 2) * sqrt(rest) / _beta_with_half(freedom)
    if x < (a + 1) / (a + b + 2):
        return front * _continued_fraction(a, b, x) / a
    return 1 - front * _continued_fraction(b, a, rest) / b


def _whole_power(base: float, exponent: int) -> float:
    """``base ** exponent`` by multiplication: the library's power may differ in its last bit between machines."""
    power = 1.0
    for _ in range(exponent):
        power *= base
    return power


def _beta_with_half(freedom: int) -> float:
    """B(v/2, 1/2), by recurrence from B(1/2, 1/2) = pi and B(1, 1/2) = 2."""
    value, a = (pi, 0.5) if freedom % 2 else (2.0, 1.0)
    while a < freedom / 2:
        value, a = value * a / (a + 0.5), a + 1
    return value


def _continued_fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8), by Lentz's method."""
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, 500):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d, c = 1 / (1 + term * d), 1 + term / c
            value *= d * c
        if abs(d * c - 1) < 1e-16:
            break
    return value


def _item_means(observations: Iterable[Observation]) -> list[tuple[Hashable, Score]]:
    """Cluster and mean score of each item: repeats are averaged within an item before anything else."""
    items: dict[Hashable, list[Score]] = {}
    clusters: dict[Hashable, Hashable] = {}
    for item, cluster, score in observations:
        items.setdefault(item, []).append(score)
        if clusters.setdefault(item, cluster) != cluster:
            raise ValueError(f"item {item} is in two clusters")
    return [
        (clusters[item], scores[0] if len(scores) == 1 else Fraction(sum(scores)) / len(scores))
        for item, scores in items.items()
    ]


def _clustered(items: Iterable[tuple[Hashable, Score]]) -> _Clusters:
    sizes: dict[Hashable, int] = {}
    sums: dict[Hashable, Score] = {}
    for cluster, score in items:
        sizes[cluster] = sizes.get(cluster, 0) + 1
        sums[cluster] = sums.get(cluster, 0) + score
    return _Clusters(list(sizes.values()), list(sums.values()), sum(sizes.values()), sum(sums.values()))


def _estimated(clusters: _Clusters, confidence: str, *, low: int, wilson_for_all: bool) -> Estimate:
    if not clusters.items:
        raise ValueError("no items, no estimate")
    mean, count = Fraction(clusters.total) / clusters.items, len(clusters.sizes)
    if count < 2:
        return Estimate(mean, None, Interval(Decimal(low), Decimal(1), "none"), clusters.items, count)
    error = _EXACT.sqrt(_ratio(_variance(clusters)))
    found = _interval(mean, error, count, confidence, low=low, wilson_for_all=wilson_for_all)
    if count < VERY_FEW_CLUSTERS:
        found = _not_narrower_than(found, clusters)
    return Estimate(mean, error, found, clusters.items, count)


def _variance(clusters: _Clusters) -> Fraction:
    """SE^2 of the mean, exactly. With m = S/n, (S_c - m n_c)^2 is (n S_c - S n_c)^2 / n^2."""
    n, total, count = clusters.items, clusters.total, len(clusters.sizes)
    squares = sum([(n * part - total * size) ** 2 for size, part in zip(clusters.sizes, clusters.sums, strict=True)])
    return Fraction(count, count - 1) * squares / n**4


def _interval(
    mean: Fraction, error: Decimal, count: int, confidence: str, *, low: int, wilson_for_all: bool
) -> Interval:
    if low == 0 and (wilson_for_all or not error):
        return Interval(*wilson(mean, count, confidence), "wilson" if wilson_for_all else "wilson-clusters")
    few = count < FEW_CLUSTERS
    upper = _upper(confidence)
    quantile = t_quantile(upper, count - 1) if few else normal_quantile(upper)
    half, middle = _EXACT.multiply(_decimal(quantile), error), _ratio(mean)
    bottom, top = max(Decimal(low), _EXACT.subtract(middle, half)), min(Decimal(1), _EXACT.add(middle, half))
    return Interval(bottom, top, "clustered-t" if few else "clustered-normal")


def _not_narrower_than(found: Interval, clusters: _Clusters) -> Interval:
    """``found``, widened to the range of the clusters' means where it is narrower."""
    means = [_ratio(Fraction(part) / size) for size, part in zip(clusters.sizes, clusters.sums, strict=True)]
    low, high = min(found.low, *means), max(found.high, *means)
    widened = low < found.low or high > found.high
    return Interval(low, high, f"{found.method}+range" if widened else found.method)


def _upper(confidence: str) -> float:
    return (1 + float(confidence)) / 2


def _decimal(value: float) -> Decimal:
    """A quantile as the decimal number of its twelve digits."""
    return Decimal(repr(value))


def _ratio(value: Fraction) -> Decimal:
    return _EXACT.divide(Decimal(value.numerator), Decimal(value.denominator))
