"""A guard against a checker becoming ten times slower unseen; the real figure is the benchmark's."""

from __future__ import annotations

import time

from evaluator.checkers import checker

ITEMS = [
    (checker("numeric", ["42"], {}), ["42", "#### 42", "The answer is 42.", "She has 40 + 2 = 42 apples."]),
    (checker("choice", ["C"], {}, ["Rome", "Oslo", "Paris"]), ["C", "Answer: (C)", "I take option c", "Paris"]),
    (checker("exact", ["Paris"], {}), ["Paris", "The answer is Paris.", "paris\nIt is.", "London"]),
]


def test_short_outputs_are_judged_by_the_ten_thousand_per_second() -> None:
    best = 0.0
    for _ in range(5):
        started = time.process_time()
        for _ in range(200):
            for item, outputs in ITEMS:
                for output in outputs:
                    item.check(output)
        best = max(best, 200 * 12 / (time.process_time() - started))
    assert best > 10_000
