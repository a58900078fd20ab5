"""Rows that tests start from, each with the least that the database accepts."""

from __future__ import annotations

import hashlib
import uuid
from typing import Any

from leaderboard.ledger import admissions, releases
from leaderboard.models import Benchmark, Checkpoint, Preset, Release, Run, Team, User

PRESET: dict[str, Any] = {
    "name": "greedy", "version": "1", "mode": "chat", "system": None, "temperature": "0", "top_p": "1", "top_k": 0,
    "max_tokens": 8, "stop": [], "seed": 0, "dtype": "float32", "batch": {"policy": "length-sorted", "size": 16},
    "context": None, "coverage_gate": "0.95",
}  # fmt: skip


def a_digest(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def a_user(name: str = "alice") -> User:
    return User.objects.create_user(name, f"{name}@example.org", "a long enough pass phrase")


def a_team(slug: str = "team") -> Team:
    return Team.objects.create(slug=slug, name=slug.title())


def a_benchmark(*, daily_limit: int = 20, slug: str = "small") -> Benchmark:
    return releases.create_benchmark(slug, slug.title(), "A benchmark for tests.", daily_limit)


def a_preset(benchmark: Benchmark, **changes: Any) -> Preset:
    return releases.create_preset(benchmark, PRESET | changes)


def a_release(benchmark: Benchmark, version: str = "1.0.0") -> Release:
    columns = {
        name: a_digest(name + version)
        for name in ("prompts_digest", "prompts_sealed", "answers_digest", "answers_sealed", "practice_digest")
    }
    release = releases.freeze(benchmark, uuid.uuid4(), {"version": version, **columns}, [])
    releases.activate(release)
    release.refresh_from_db()
    return release


def a_checkpoint(team: Team, user: User, name: str = "model") -> Checkpoint:
    manifest = {"format": "heldout.checkpoint/1", "files": [{"name": "config.json", "size": 2, "sha256": "0" * 64}]}
    return Checkpoint.objects.create(
        team=team, created_by=user, name=name, manifest=manifest, manifest_digest=a_digest(name), size=2
    )


def a_run(**options: Any) -> Run:
    """A queued run with everything above it."""
    user, team = a_user(), a_team()
    benchmark = a_benchmark(**options)
    submission = admissions.submit(
        user, a_checkpoint(team, user), a_release(benchmark), a_preset(benchmark), admissions.Declaration()
    )
    return submission.run
