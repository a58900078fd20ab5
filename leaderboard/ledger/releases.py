"""Benchmarks, presets and frozen releases: written by the curator, once."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping

from django.db import transaction

from evaluator.records.canonical import digest
from leaderboard.ledger import entries
from leaderboard.models import Benchmark, Item, Preset, Release


def create_benchmark(slug: str, title: str, description: str, daily_limit: int) -> Benchmark:
    with transaction.atomic():
        benchmark = Benchmark.objects.create(slug=slug, title=title, description=description, daily_limit=daily_limit)
        entries.record("benchmark.create", benchmark.pk, slug=slug)
    return benchmark


def create_preset(benchmark: Benchmark, body: Mapping[str, object]) -> Preset:
    with transaction.atomic():
        preset = Preset.objects.create(
            benchmark=benchmark, name=str(body["name"]), version=str(body["version"]), body=dict(body),
            digest=digest(body),
        )  # fmt: skip
        entries.record("preset.create", preset.pk, digest=preset.digest)
    return preset


def freeze(
    benchmark: Benchmark, release_id: uuid.UUID, columns: Mapping[str, object], items: Iterable[Mapping[str, object]]
) -> Release:
    """Write a release with all its items, or nothing. ``columns`` are those of ``Release``, ``items`` of ``Item``."""
    with transaction.atomic():
        release = Release.objects.create(id=release_id, benchmark=benchmark, **columns)
        Item.objects.bulk_create([Item(release=release, **item) for item in items], batch_size=1000)
        entries.record(
            "release.freeze", release.pk, version=release.version, prompts=release.prompts_digest,
            answers=release.answers_digest, practice=release.practice_digest,
        )  # fmt: skip
    return release


def activate(release: Release) -> None:
    """Make a frozen release the active one; the one before is retired. In-flight runs finish where they started."""
    with transaction.atomic():
        before = Release.objects.filter(benchmark_id=release.benchmark_id, state=Release.State.ACTIVE)
        for old in before:
            Release.objects.filter(pk=old.pk).update(state=Release.State.RETIRED)
            entries.record("release.retire", old.pk)
        Release.objects.filter(pk=release.pk, state=Release.State.FROZEN).update(state=Release.State.ACTIVE)
        entries.record("release.activate", release.pk)
