"""Ranking: pure functions over entries."""

from __future__ import annotations

import datetime as dt
import uuid
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard import standings
from leaderboard.standings import Entry

NOON = dt.datetime(2026, 11, 1, 12, tzinfo=dt.UTC)


def entry(score: str | None = None, *, half: str = "0.01", hours: int = 0, **columns: Any) -> Entry:
    value = None if score is None else Decimal(score)
    at = NOON + dt.timedelta(hours=hours)
    defaults: dict[str, Any] = {
        "run": uuid.uuid4(), "checkpoint": uuid.uuid4(), "model": "m", "team": uuid.uuid4(), "team_slug": "t",
        "team_name": "T", "state": "scored", "queued_at": at, "released_at": at, "score": value,
        "low": None if value is None else value - Decimal(half),
        "high": None if value is None else value + Decimal(half),
        "ranked": value is not None,
    }  # fmt: skip
    return Entry(**defaults | columns)


def ranks(*entries: Entry) -> list[int | None]:
    by_run = {row.entry.run: row.rank for part in standings.rank(entries) for row in part}
    return [by_run[one.run] for one in entries]


def test_the_highest_score_is_first() -> None:
    assert ranks(entry("0.2"), entry("0.9"), entry("0.5")) == [3, 1, 2]


def test_equal_scores_share_a_rank_and_the_next_one_is_skipped() -> None:
    late, early, third = entry("0.5", hours=2), entry("0.5", hours=1), entry("0.4")
    assert ranks(late, early, third) == [1, 1, 3]
    ranked, _ = standings.rank([late, early, third])
    assert [row.entry.run for row in ranked] == [early.run, late.run, third.run]
    assert [row.tied for row in ranked] == [True, True, False]


def test_a_missing_score_never_ranks_and_says_why() -> None:
    ranked, apart = standings.rank([entry("0.5"), entry(None, state="failed"), entry(None, state="scored")])
    assert len(ranked) == 1
    assert [row.rank for row in apart] == [None, None]
    assert all(row.missing for row in apart)


def test_a_score_below_the_coverage_gate_does_not_rank() -> None:
    assert ranks(entry("0.9", ranked=False), entry("0.1")) == [None, 1]


def test_overlapping_intervals_leave_the_order_open() -> None:
    ranked, _ = standings.rank([entry("0.50", half="0.05"), entry("0.47", half="0.05"), entry("0.20", half="0.05")])
    assert [(row.best, row.worst) for row in ranked] == [(1, 2), (1, 2), (3, 3)]


def test_without_an_interval_nothing_is_certain() -> None:
    ranked, _ = standings.rank([entry("0.9", low=None, high=None), entry("0.1")])
    assert [(row.best, row.worst) for row in ranked] == [(1, 2), (1, 2)]


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 5)), max_size=12))
def test_a_rank_always_lies_in_its_band(pairs: list[tuple[int, int]]) -> None:
    ranked, _ = standings.rank([entry(str(score / 20), half=str(half / 20)) for score, half in pairs])
    assert all(row.best <= row.rank <= row.worst <= len(ranked) for row in ranked)  # type: ignore[operator]


def test_the_first_complete_run_of_a_checkpoint_counts() -> None:
    checkpoint = uuid.uuid4()
    first = entry("0.4", hours=1, checkpoint=checkpoint)
    again = entry("0.9", hours=2, checkpoint=checkpoint)
    assert [(one.run, one.runs) for one in standings.pick([again, first])] == [(first.run, 2)]


def test_a_good_run_after_a_faulty_one_appears() -> None:
    checkpoint = uuid.uuid4()
    faulty = entry(None, state="void", hours=1, checkpoint=checkpoint)
    good = entry("0.9", hours=2, checkpoint=checkpoint)
    assert [one.run for one in standings.pick([faulty, good])] == [good.run]


@pytest.mark.parametrize("sort", [sign + name for name in standings.SORTS for sign in ("", "-")])
def test_every_sort_keeps_every_row_in_a_steady_order(sort: str) -> None:
    rows, _ = standings.rank([entry("0.5", coverage=Decimal(1)) for _ in range(8)])
    once, twice = standings.arrange(rows, sort), standings.arrange(reversed(rows), sort)
    assert once == twice
    assert sorted(row.entry.run for row in once) == sorted(row.entry.run for row in rows)


def test_an_unknown_sort_is_the_rank() -> None:
    rows, _ = standings.rank([entry("0.1"), entry("0.9")])
    assert [row.rank for row in standings.arrange(rows, "password")] == [1, 2]


def test_the_smallest_difference_follows_from_the_intervals() -> None:
    # Half-width 0.0196 is a standard error of 0.01; two independent scores, 95 % and power 0.8.
    assert standings.minimum_difference([entry("0.5", half="0.0196")]) == Decimal("0.040")
    assert standings.minimum_difference([entry(None)]) is None
