"""The page of a run: everything about practice items, next to nothing about hidden ones."""

from __future__ import annotations

import datetime as dt
import json
import re

import pytest
from django.db import connection
from django.utils import timezone

from evaluator.records.lifecycle import State
from leaderboard.models import Attempt, PracticeResult, QuotaEntry, Run
from leaderboard.web import live, words
from tests import cast as casting
from tests.cast import Cast
from tests.web.conftest import Visitor


def running(cast: Cast, **columns: object) -> Run:
    run = cast.queued()
    with casting.unguarded("leaderboard_run"):
        casting.move(run, "running", **columns)
    return run


def page(run: Run) -> str:
    return f"/runs/{run.pk}/"


def test_a_queued_run_shows_its_place_in_the_queue(cast: Cast) -> None:
    cast.queued(cast.borealis)
    run = cast.queued()
    assert re.search(r"Number\s+<b>2</b>", Visitor(cast.competitor).text(page(run)))


@pytest.mark.parametrize(("done", "shown"), [(0, "0"), (9, "0"), (19, "10"), (99, "90"), (100, "100")])
def test_progress_is_told_in_tenths(cast: Cast, done: int, shown: str) -> None:
    run = running(cast, progress_done=done)
    assert f'value="{shown}"' in Visitor(cast.competitor).text(page(run))
    assert json.loads(Visitor(cast.competitor).text(f"/api/runs/{run.pk}"))["progress_percent"] == int(shown)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "under 1 min"), (59, "under 1 min"), (60, "1 to 5 min"), (899, "5 to 15 min"), (3599, "15 to 60 min"),
     (3600, "over 1 hour")],
)  # fmt: skip
def test_a_duration_is_told_in_five_words(seconds: int, text: str) -> None:
    now = timezone.now()
    assert words.bucket(now - dt.timedelta(seconds=seconds), now) == text


def test_nothing_exact_about_hidden_items_is_on_any_page_of_the_run(cast: Cast) -> None:
    run = cast.scored("0.5", name="m")
    started = timezone.now() - dt.timedelta(seconds=61)
    with casting.unguarded("leaderboard_run", "leaderboard_attempt"):
        Run.objects.filter(pk=run.pk).update(
            started_at=started, lease_owner="secret-host:4711", progress_done=37, progress_total=251, fence=90210
        )
        Attempt.objects.filter(run=run).update(facts={
            "wall_ms": 61234, "first_output_ms": 777, "stats": {"tokens": 98765}, "hello": {"engine": "transformers",
            "note": "leak-one"}, "ready": {"dtype": "float32", "loaded_ms": 5678}, "exit_code": 137,
        })  # fmt: skip
    visitor = Visitor(cast.competitor)
    for path in (page(run), f"/runs/{run.pk}/provenance", f"/runs/{run.pk}/provenance.json", f"/runs/{run.pk}/poll",
                 f"/api/runs/{run.pk}", "/runs/", "/boards/small/", "/boards/small/board.json"):  # fmt: skip
        text = visitor.text(path)
        for secret in ("61234", "777", "98765", "leak-one", "5678", "secret-host", "251", "90210", "137"):
            assert not re.search(rf"(?<![0-9a-f]){secret}(?![0-9a-f])", text), (path, secret)
        assert started.strftime("%H:%M:%S") not in text, path


def test_practice_items_show_everything(cast: Cast) -> None:
    run = running(cast)
    casting.practise(run, 4)
    text = Visitor(cast.competitor).text(page(run))
    for shown in ("What is 3 + 3?", "It is 6.", "arithmetic", "right", "wrong"):
        assert shown in text


@pytest.mark.parametrize(
    "asked",
    [[{"role": "user", "content": "shown"}], {"messages": [{"role": "user", "content": "shown"}]}, "shown",
     {"prompt": "shown"}],
)  # fmt: skip
def test_a_prompt_is_shown_in_each_form_it_may_have(cast: Cast, asked: object) -> None:
    run = running(cast)
    casting.practise(run, 1)
    with casting.unguarded("leaderboard_practiceresult"):
        PracticeResult.objects.update(prompt=asked)
    assert "<pre>shown</pre>" in Visitor(cast.competitor).text(page(run))


def test_polling_brings_what_is_new_and_says_when_it_is_over(cast: Cast) -> None:
    run = running(cast)
    casting.practise(run, 3)
    visitor = Visitor(cast.competitor)
    first = json.loads(visitor.text(f"/runs/{run.pk}/poll?after=1"))
    assert (len(first["practice"]), first["after"], first["final"]) == (2, 3, False)
    with casting.unguarded("leaderboard_run"):
        casting.move(run, "failed", reason="checkpoint.load")
    last = json.loads(visitor.text(f"/runs/{run.pk}/poll?after=3"))
    assert (last["practice"], last["final"]) == ([], True)
    assert "could not load this checkpoint" in last["state"]


@pytest.mark.parametrize("code", ["engine/oom-on-item-17", "the answer is 42", "<script>", "x" * 80])
def test_what_a_worker_wrote_never_reaches_a_page_as_it_is(cast: Cast, code: str) -> None:
    run = cast.queued()
    with casting.unguarded("leaderboard_run"):
        casting.move(run, "void", reason=code)
    text = Visitor(cast.competitor).text(page(run))
    assert code not in text
    assert "broke" in text


def test_a_queued_run_is_cancelled_at_once_and_refunded(cast: Cast) -> None:
    run = cast.queued()
    answer = Visitor(cast.competitor).post(f"/runs/{run.pk}/cancel")
    assert answer["Location"] == page(run)
    assert Run.objects.get(pk=run.pk).state == "cancelled"
    assert QuotaEntry.objects.filter(kind="refund").count() == 1


def test_a_running_run_is_asked_to_stop_once(cast: Cast) -> None:
    run = running(cast)
    visitor = Visitor(cast.competitor)
    for _ in range(2):
        assert visitor.send(f"/api/runs/{run.pk}/cancel", {}).json()["cancelling"] is True
    assert Run.objects.get(pk=run.pk).cancel_requested_at is not None
    assert "being stopped" in visitor.text(page(run))
    assert f"/runs/{run.pk}/cancel" not in visitor.text(page(run))


@pytest.mark.parametrize("state", ["scored", "failed", "void"])
def test_a_finished_run_can_not_be_cancelled(cast: Cast, state: str) -> None:
    run = cast.queued()
    with casting.unguarded("leaderboard_run"):
        casting.move(run, state)
    Visitor(cast.competitor).post(f"/runs/{run.pk}/cancel")
    assert Run.objects.get(pk=run.pk).state == state


def test_provenance_holds_the_runspec_whole(cast: Cast) -> None:
    run = cast.scored("0.5", name="m")
    text = Visitor(cast.competitor).text(f"/runs/{run.pk}/provenance")
    assert f"heldout replay {run.pk}" in text
    for digest in (run.submission.preset.digest, run.submission.checkpoint.manifest_digest,
                   casting.RUNSPEC["image"]["digest"], casting.factories.a_digest("card")):  # fmt: skip
        assert f'data-copy="{digest}"' in text
    body = json.loads(Visitor(cast.competitor).text(f"/runs/{run.pk}/provenance.json"))
    assert body["runspec"] == casting.RUNSPEC


def test_a_released_score_comes_with_its_interval(cast: Cast) -> None:
    run = cast.scored("0.5", name="m", half="0.0625")
    text = Visitor(cast.competitor).text(page(run))
    assert "50.0 %" in text
    assert "43.8 to 56.2" in text
    body = json.loads(Visitor(cast.competitor).text(f"/api/runs/{run.pk}"))
    assert (body["score"], body["low"], body["high"]) == ("0.500000", "0.437500", "0.562500")


def test_a_score_below_the_gate_is_a_dash_with_its_reason(cast: Cast) -> None:
    run = cast.scored(None, coverage="0.75", valid=150)
    text = Visitor(cast.competitor).text(page(run))
    assert "Below the coverage gate" in text
    assert json.loads(Visitor(cast.competitor).text(f"/api/runs/{run.pk}"))["score"] is None


def test_every_state_has_words() -> None:
    assert set(words.STATES) == set(State)


def test_many_runs_are_listed_with_few_statements(cast: Cast, django_assert_max_num_queries) -> None:  # type: ignore[no-untyped-def]
    for _ in range(8):
        cast.queued()
    visitor = Visitor(cast.competitor)
    with django_assert_max_num_queries(14):
        visitor.text("/runs/")


def test_a_page_of_runs_reads_no_lease_and_no_fence(cast: Cast) -> None:
    run = cast.queued()
    with connection.execute_wrapper(_forbid("fence", "lease_owner", "lease_until", "outputs_sealed", "grade_")):
        live.snapshot(run.pk)
        list(casting.Run.objects.none())
        from leaderboard.web import access

        list(access.visible_runs(cast.competitor))


def _forbid(*words_: str):  # type: ignore[no-untyped-def]
    def look(execute, sql, params, many, context):  # type: ignore[no-untyped-def]
        assert not any(word in sql for word in words_), sql
        return execute(sql, params, many, context)

    return look
