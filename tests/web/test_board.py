"""The board as people and programs read it."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
import re

import pytest

from leaderboard import standings
from leaderboard.models import Checkpoint, Team
from leaderboard.web.pages import boards
from tests import cast as casting
from tests.cast import Cast
from tests.web.conftest import Visitor

BOARD = "/boards/small/"


def models(html: str) -> list[str]:
    return re.findall(r"<strong>(?:<a[^>]*>)?([^<]+)", html)


@pytest.mark.parametrize("sort", ["rank", "-rank", "score", "-score"])
def test_what_failed_is_listed_apart_in_both_directions(cast: Cast, sort: str) -> None:
    cast.scored("0.2", name="low")
    cast.scored("0.8", name="high")
    failed = cast.queued(checkpoint=cast.checkpoint(name="failed"))
    with casting.unguarded("leaderboard_run"):
        casting.move(failed, "failed")
    names = models(Visitor(cast.stranger).text(f"{BOARD}?sort={sort}"))
    assert names[-1] == "failed"
    assert names[:2] == (["low", "high"] if sort in {"-rank", "score"} else ["high", "low"])


def test_equal_scores_share_a_rank_by_first_time(cast: Cast) -> None:
    now = dt.datetime.now(dt.UTC)
    cast.scored("0.5", name="later", at=now)
    cast.scored("0.5", name="earlier", at=now - dt.timedelta(hours=1))
    rows = json.loads(Visitor(cast.stranger).text(f"{BOARD}board.json"))["rows"]
    assert [(row["model"], row["rank"], row["tied"]) for row in rows] == [("earlier", 1, True), ("later", 1, True)]


@pytest.mark.parametrize("sort", list(standings.SORTS))
def test_pages_together_hold_every_row_once(cast: Cast, sort: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boards, "PER_PAGE", 7)
    for number in range(30):
        cast.scored("0.5", name=f"model-{number}x")
    visitor, seen = Visitor(cast.stranger), []
    for direction in ("", "-"):
        for page in range(1, 6):
            seen += models(visitor.text(f"{BOARD}?sort={direction}{sort}&page={page}"))
    assert sorted(seen) == sorted([f"model-{number}x" for number in range(30)] * 2)


def test_a_row_names_score_interval_coverage_and_attempts(cast: Cast) -> None:
    cast.scored("0.4375", name="mine", half="0.0625", faults={"engine": 3}, valid=197, coverage="0.985")
    html = Visitor(cast.stranger).text(BOARD)
    for text in ("43.8", "37.5 to 50.0", "98.5", "197", "can't be told apart", "1.0.0", "greedy 1"):
        assert text in html


def test_a_filter_keeps_the_rank_of_the_whole_board(cast: Cast) -> None:
    cast.scored("0.9", cast.borealis, name="theirs")
    cast.scored("0.5", cast.aurora, name="ours")
    rows = json.loads(Visitor(cast.stranger).text(f"{BOARD}board.json?team=aurora"))["rows"]
    assert [(row["model"], row["rank"]) for row in rows] == [("ours", 2)]
    assert models(Visitor(cast.stranger).text(f"{BOARD}?q=OUR")) == ["ours"]


def test_the_csv_is_safe_for_a_spreadsheet(cast: Cast) -> None:
    run = cast.scored("0.5", name="x")
    Checkpoint.objects.filter(pk=run.submission.checkpoint_id).update(name='=HYPERLINK("http://evil")')
    answer = Visitor(cast.stranger).get(f"{BOARD}board.csv")
    (row,) = csv.DictReader(io.StringIO(answer.content.decode()))
    assert row["model"].startswith("'=")
    assert row["score"] == "0.500000"
    assert "attachment" in answer["Content-Disposition"]
    assert row["preset_digest"] == cast.preset.digest


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\tx", " =1", "\r=1", "|calc"])
def test_every_formula_gets_an_apostrophe(text: str) -> None:
    assert boards.spreadsheet_safe(text) == f"'{text}"


def test_the_same_filters_give_the_same_rows_in_every_form(cast: Cast) -> None:
    for number, score in enumerate(("0.1", "0.9", "0.5")):
        cast.scored(score, name=f"m{number}")
    visitor, query = Visitor(cast.stranger), "?sort=-model&q=m"
    rows = json.loads(visitor.text(f"{BOARD}board.json{query}"))["rows"]
    lines = csv.DictReader(io.StringIO(visitor.text(f"{BOARD}board.csv{query}")))
    assert models(visitor.text(BOARD + query)) == [row["model"] for row in rows] == [line["model"] for line in lines]


def test_another_release_has_another_board(cast: Cast) -> None:
    cast.scored("0.5", name="old")
    casting.factories.a_release(cast.benchmark, "2.0.0")
    visitor = Visitor(cast.stranger)
    assert models(visitor.text(BOARD)) == []
    assert models(visitor.text(f"{BOARD}?release=1.0.0")) == ["old"]
    assert visitor.get(f"{BOARD}?release=9").status_code == 404


@pytest.mark.parametrize("query", ["sort=;drop", "sort=__class__", "page=x", "page=-1", "team=%00", "q=%27%22--"])
def test_nonsense_in_the_address_is_ignored(cast: Cast, query: str) -> None:
    cast.scored("0.5")
    assert Visitor(cast.stranger).get(f"{BOARD}?{query}").status_code == 200


def test_the_number_of_statements_does_not_grow_with_the_rows(cast: Cast, django_assert_max_num_queries) -> None:  # type: ignore[no-untyped-def]
    for number in range(12):
        cast.scored("0.5", name=f"m{number}")
    visitor = Visitor(cast.stranger)
    with django_assert_max_num_queries(16):
        visitor.text(BOARD)


def test_a_board_without_presets_says_so(cast: Cast) -> None:
    casting.factories.a_benchmark(slug="bare")
    assert "no release or no preset" in Visitor(cast.stranger).text("/boards/bare/")
    assert Visitor(cast.stranger).get("/boards/bare/board.json").status_code == 404


def test_rows_of_two_grader_versions_are_flagged(cast: Cast) -> None:
    cast.scored("0.5")
    cast.scored("0.6", grader_digest=casting.factories.a_digest("grader two"))
    assert "2 versions of the grader" in Visitor(cast.stranger).text(BOARD)


def test_team_names_filter_the_board(cast: Cast) -> None:
    Team.objects.filter(pk=cast.aurora.pk).update(name="Aurora & Söhne")
    cast.scored("0.5")
    assert "Aurora &amp; Söhne" in Visitor(cast.stranger).text(BOARD)
