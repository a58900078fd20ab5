"""Who appears in tests of pages and endpoints, and what each may see.

competitor   in team Aurora: sees and moves what is Aurora's
captain      admin of team Aurora: that, and who is in it
rival        in team Borealis: of Aurora sees what the board shows, and nothing else
curator      in the host team: prepares task sets; sees no team's runs
auditor      in the host team: sees every team's runs, moves none
operator     admin of the host team: makes teams, sees every team's runs
stranger     signed in, in no team: sees boards and benchmarks only
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from django.db import connection

from leaderboard.ledger import admissions
from leaderboard.models import (
    Attempt,
    Benchmark,
    Checkpoint,
    Membership,
    PracticeResult,
    Preset,
    Release,
    ReleasedScore,
    Run,
    Submission,
    Team,
    User,
)
from tests import factories

PASSWORD = "a long enough pass phrase"
PEOPLE = ("competitor", "captain", "rival", "curator", "auditor", "operator", "stranger")


@dataclass
class Cast:
    """Everybody, their teams, and one benchmark with a release and a preset."""

    people: dict[str, User]
    aurora: Team
    borealis: Team
    host: Team
    benchmark: Benchmark
    release: Release
    preset: Preset
    names: Iterator[int] = field(default_factory=lambda: iter(range(10_000)))

    def __getattr__(self, name: str) -> User:
        return self.people[name]

    def checkpoint(self, team: Team | None = None, name: str = "", **columns: Any) -> Checkpoint:
        team = team or self.aurora
        name = name or f"model-{next(self.names)}"
        row = factories.a_checkpoint(team, self.member(team), name)
        facts = {"architecture": "LlamaForCausalLM", "parameters": 134_515_008, "dtype": "bfloat16", "context": 2048,
                 "template": factories.a_digest("template"), "tokenizer": factories.a_digest("tokenizer")}  # fmt: skip
        for key, value in ({"facts": facts} | columns).items():
            setattr(row, key, value)
        row.save()
        return row

    def member(self, team: Team) -> User:
        return self.people["rival" if team == self.borealis else "competitor"]

    def queued(self, team: Team | None = None, checkpoint: Checkpoint | None = None) -> Run:
        checkpoint = checkpoint or self.checkpoint(team)
        user = self.member(checkpoint.team)
        submission = admissions.submit(user, checkpoint, self.release, self.preset, admissions.Declaration())
        return submission.run

    def scored(self, score: str | None = "0.5", team: Team | None = None, *, name: str = "", half: str = "0.05",
               at: dt.datetime | None = None, **released: Any) -> Run:  # fmt: skip
        """A finished run. Written past the guards: how runs come to be scored is not what these tests are about."""
        run = self.queued(team, self.checkpoint(team, name) if name else None)
        with unguarded("leaderboard_run", "leaderboard_attempt", "leaderboard_releasedscore"):
            move(run, "scored", runspec_digest=factories.a_digest("runspec"), outputs_digest=factories.a_digest("out"))
            an_attempt(run)
            release(run, score, Decimal(half), released)
            if at is not None:
                ReleasedScore.objects.filter(run=run).update(released_at=at)
        return run


def move(run: Run, state: str, **columns: Any) -> None:
    """Put a run into a state, as its workers would. Inside ``unguarded``."""
    now = dt.datetime.now(dt.UTC)
    times = {"started_at": now - dt.timedelta(seconds=70)}
    if state in {"scored", "failed", "void"}:
        times["finished_at"] = now
    Run.objects.filter(pk=run.pk).update(state=state, **{"progress_done": 37, "progress_total": 100} | times | columns)


def an_attempt(run: Run, **columns: Any) -> Attempt:
    defaults: dict[str, Any] = {
        "kind": "run", "number": 1, "fence": 1, "worker": "secret-host:4711", "ending": "sealed",
        "runspec": RUNSPEC, "runspec_digest": factories.a_digest("runspec"), "ended_at": dt.datetime.now(dt.UTC),
        "facts": {"dtype": "float32", "threads": 2, "milliseconds": 61_234, "completion_tokens": 98_765},
    }  # fmt: skip
    return Attempt.objects.create(run=run, **defaults | columns)


def release(run: Run, score: str | None, half: Decimal, released: Mapping[str, Any]) -> ReleasedScore:
    value = None if score is None else Decimal(score)
    row: dict[str, Any] = {
        "score": value, "low": value and value - half, "high": value and value + half, "worst": value,
        "items": 200, "valid": 200, "clusters": 180, "coverage": Decimal(1), "ranked": value is not None,
        "grader_digest": factories.a_digest("grader"), "scorecard_digest": factories.a_digest("card"), "rule": "plain",
    }  # fmt: skip
    return ReleasedScore.objects.create(run=run, **row | dict(released))


def practise(run: Run, count: int = 3, **columns: Any) -> None:
    rows = [
        PracticeResult(
            run=run, index=index, kind="numeric", category="arithmetic",
            prompt=[{"role": "user", "content": f"What is {index} + {index}?"}], completion=f"It is {2 * index}.",
            outcome="answered", score="1" if index % 3 else "0", reason="equal" if index % 3 else "differs",
            expected=[str(2 * index)], **columns,
        )
        for index in range(count)
    ]  # fmt: skip
    PracticeResult.objects.bulk_create(rows)


RUNSPEC: dict[str, Any] = {
    "format": "heldout.runspec/1",
    "checkpoint": {"manifest": factories.a_digest("manifest")},
    "release": {"prompts": factories.a_digest("prompts"), "version": "1.0.0"},
    "preset": factories.PRESET,
    "engine": {"name": "transformers", "version": "5.24.0"},
    "image": {"digest": factories.a_digest("image")},
    "hardware": {"cpu": "x86-64-v3", "cores": 2, "gpu": []},
    "seeds": {"sampling": 0},
}


@contextmanager
def unguarded(*tables: str) -> Iterator[None]:
    """As the owner, without the triggers that only let workers write."""
    _triggers("DISABLE", tables)
    try:
        yield
    finally:
        _triggers("ENABLE", tables)


def _triggers(verb: str, tables: tuple[str, ...]) -> None:
    with connection.cursor() as cursor:
        for table in tables:
            cursor.execute(f"ALTER TABLE {table} {verb} TRIGGER USER")


def assemble() -> Cast:
    people = {name: User.objects.create_user(name, f"{name}@example.org", PASSWORD) for name in PEOPLE}
    aurora, borealis = factories.a_team("aurora"), factories.a_team("borealis")
    host = Team.objects.create(slug="host", name="Host", is_host=True)
    for team, name, role in (
        (aurora, "competitor", "competitor"), (aurora, "captain", "admin"), (borealis, "rival", "competitor"),
        (host, "curator", "curator"), (host, "auditor", "auditor"), (host, "operator", "admin"),
    ):  # fmt: skip
        Membership.objects.create(team=team, user=people[name], role=role)
    benchmark = factories.a_benchmark(daily_limit=500)
    return Cast(
        people, aurora, borealis, host, benchmark, factories.a_release(benchmark), factories.a_preset(benchmark)
    )


def a_row_of_everything(cast: Cast) -> dict[str, uuid.UUID]:
    """One of each thing that belongs to Aurora: what a stranger must not reach under any address."""
    run = cast.scored("0.5", cast.aurora, name="aurora-secret-model")
    practise(run)
    upload = admissions.open_upload(cast.aurora, cast.competitor, "aurora-secret-upload", admissions.Declaration())
    file = admissions.add_file(upload, "config.json", 10)
    submission = Submission.objects.get(run=run)
    return {"run_id": run.pk, "upload_id": upload.pk, "file_id": file.pk, "checkpoint_id": submission.checkpoint_id}
