"""kill -9 of every part at every state of a run: one end, one score, nothing twice, the quota right.

States are held still from outside, so that nothing in the product knows of the test: a queued run has no runner, a
sealed one no grader, and a grading one waits for a lock on the table of grades.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path

import psycopg
import pytest
from django.db import connection

from box import postgres, valkey
from leaderboard.models import Attempt, Grade, LogEntry, QuotaEntry, ReleasedScore, Run
from tests import processes, services, stage
from tests.installation import STATE
from tests.processes import EVALUATING, containers_of, reaches, start, state_of, until

pytestmark = [pytest.mark.usefixtures("database"), pytest.mark.engine, pytest.mark.slow, pytest.mark.timeout(240)]

ITEMS = 600
"""So many that the journal gets its first chunk, after 256 answers, well before the end."""


def kill_database(_: Run) -> None:
    pid = postgres.pid(STATE)
    assert pid is not None
    connection.close()
    services.disconnect()
    os.kill(pid, signal.SIGKILL)


def kill_broker(_: Run) -> None:
    processes.kill("valkey")


def kill_container(run: Run) -> None:
    for container in containers_of(run):
        subprocess.run(["docker", "kill", "--signal=KILL", container], capture_output=True, check=False)


def kill_process(name: str) -> Callable[[Run], None]:
    return lambda _: processes.kill(name)


KILLS: dict[str, Callable[[Run], None]] = {
    "database": kill_database, "broker": kill_broker, "container": kill_container,
    **{name: kill_process(name) for name in ("runner", "grader", "launcher", "clock", "web")},
}  # fmt: skip

MATRIX = {
    "queued": ("web", "broker", "database", "launcher", "clock"),
    "starting": ("web", "runner", "launcher", "broker", "database"),
    "asking": ("runner", "launcher", "container", "broker", "database"),
    "sealed": ("web", "runner", "launcher", "broker", "database"),
    "grading": ("web", "grader", "broker", "database"),
}
CELLS = [(state, part) for state, parts in MATRIX.items() for part in parts]


@pytest.fixture(scope="module")
def undisturbed(django_db_blocker: object, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, object]]:
    """What the talkative run gives when nobody kills anything."""
    with django_db_blocker.unblock():  # type: ignore[attr-defined]
        services.empty()
        start(*EVALUATING, "web")
        run = a_talkative_run(tmp_path_factory.mktemp("undisturbed"))
        assert reaches(run, "scored", "void", "failed", seconds=180) == "scored"
        yield facts_of(run)


def a_talkative_run(folder: Path) -> Run:
    """Random weights that use up their allowance: the run lasts long enough to be interrupted in its midst."""
    return stage.a_run(folder / "random", stage.items(right=ITEMS, wrong=0), says=None, max_tokens=180)


def a_short_run(folder: Path) -> Run:
    return stage.a_run(folder / "says-42", stage.items(right=6, wrong=2))


SHORT = {"score": Decimal("0.75"), "items": 8, "valid": 8, "practice": [("42", "1"), ("42", "1")]}


def facts_of(run: Run) -> dict[str, object]:
    released = ReleasedScore.objects.get(run=run)
    practice = run.practice_results.order_by("index").values_list("completion", "score")
    return {"score": released.score, "items": released.items, "valid": released.valid, "practice": list(practice)}


@contextmanager
def held(state: str, run: Callable[[], Run]) -> Iterator[Run]:
    """The run, standing still in ``state`` (or in the midst of it) while the body runs."""
    start(*(name for name in (*EVALUATING, "web") if (state, name) not in {("queued", "runner"), ("sealed", "grader")}))
    if state in {"queued", "sealed"}:
        processes.stop({"queued": "runner", "sealed": "grader"}[state])
    if state == "grading":
        with locked("leaderboard_grade"):
            made = run()
            reaches(made, "grading")
            yield made
        return
    made = run()
    wait_for[state](made)
    yield made


def asking(run: Run) -> None:
    """The first answers are in the journal."""
    journal = STATE.root / "journal" / str(run.pk)
    until(lambda: any(journal.rglob("*.age")), 90)


wait_for: dict[str, Callable[[Run], object]] = {
    "queued": lambda run: None,
    "starting": lambda run: until(lambda: bool(containers_of(run)), 90),
    "asking": asking,
    "sealed": lambda run: reaches(run, "sealed"),
}


@contextmanager
def locked(table: str) -> Iterator[None]:
    """Nobody may write ``table`` meanwhile."""
    with services.connect("owner") as session:
        session.execute(f"LOCK TABLE {table} IN EXCLUSIVE MODE")
        yield
        try:
            session.rollback()
        except psycopg.OperationalError:
            return  # the database was the one that was killed


@pytest.mark.parametrize(("state", "part"), [cell for cell in CELLS if cell[0] != "asking"])
def test_killing(state: str, part: str, tmp_path: Path) -> None:
    with held(state, lambda: a_short_run(tmp_path)) as run:
        KILLS[part](run)
    restart_everything()
    assert reaches(run, "scored", "void", "failed", "cancelled", seconds=150) == "scored"
    assert facts_of(run) == SHORT
    assert_once(run)


@pytest.mark.parametrize("part", MATRIX["asking"])
def test_killing_in_the_midst_of_asking(part: str, tmp_path: Path, undisturbed: dict[str, object]) -> None:
    with held("asking", lambda: a_talkative_run(tmp_path)) as run:
        KILLS[part](run)
    restart_everything()
    assert reaches(run, "scored", "void", "failed", "cancelled", seconds=180) == "scored"
    assert facts_of(run) == undisturbed
    assert_once(run)


def assert_once(run: Run) -> None:
    """One grade, one charge, one of each entry that ends something; no open attempt, no container, no journal."""
    assert Grade.objects.filter(run=run).count() == 1
    assert list(QuotaEntry.objects.values_list("kind", flat=True)) == ["charge"]
    ends = LogEntry.objects.filter(subject=run.pk, kind__in=["run.seal", "run.grade", "run.score"])
    assert sorted(ends.values_list("kind", flat=True)) == ["run.grade", "run.score", "run.seal"]
    assert not Attempt.objects.filter(run=run, ended_at=None).exists()
    until(lambda: containers_of(run) == [], 20)
    assert not (STATE.root / "journal" / str(run.pk)).exists()


def restart_everything() -> None:
    """What an operator or a supervisor does: whatever does not run is started, with whatever its death left behind."""
    postgres.start(STATE)
    valkey.start(STATE)
    start(*EVALUATING, "web")


def test_a_kill_between_two_runs_loses_neither(tmp_path: Path) -> None:
    start(*EVALUATING)
    processes.stop("runner")
    first = stage.a_run(tmp_path / "says-42", stage.items(right=2, wrong=1))
    second = stage.again_for(first)
    start("runner")
    reaches(first, "running", "sealed", "grading", "scored")
    processes.kill("runner")
    restart_everything()
    assert {reaches(run, "scored", "void", "failed", seconds=120) for run in (first, second)} == {"scored"}
    assert state_of(first) == state_of(second) == "scored"
