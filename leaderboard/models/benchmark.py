"""What is measured: benchmarks, their immutable releases, the presets to run them with, and items without text."""

from __future__ import annotations

from django.db import models

from leaderboard.models.base import DigestField, Row


class Benchmark(Row):
    slug = models.SlugField(max_length=60, unique=True)
    title = models.CharField(max_length=120)
    description = models.TextField(blank=True)
    daily_limit = models.PositiveIntegerField(default=20, help_text="Submissions per team and UTC day.")
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.title


class Release(Row):
    """One frozen version of a task set. After the freeze only ``state`` moves: frozen, active, retired."""

    class State(models.TextChoices):
        FROZEN = "frozen"
        ACTIVE = "active"
        RETIRED = "retired"

    benchmark = models.ForeignKey(Benchmark, models.PROTECT, related_name="releases")
    version = models.CharField(max_length=40)
    state = models.CharField(max_length=10, choices=State.choices, default=State.FROZEN)
    notes = models.TextField(blank=True)
    prompts_digest = DigestField(help_text="Content digest of the prompts pack.")
    prompts_sealed = DigestField(help_text="Digest of the sealed file, its address in the store.")
    answers_digest = DigestField()
    answers_sealed = DigestField()
    items_digest = DigestField(help_text="Items whole, reserve included: for curator and auditor.")
    items_sealed = DigestField()
    practice_digest = DigestField(help_text="Content digest of the open practice pack.")
    counts = models.JSONField(default=dict, help_text="Items by split, kind and category; groups.")
    frozen_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "version"], name="one_release_per_version"),
            models.UniqueConstraint(
                fields=["benchmark"], condition=models.Q(state="active"), name="one_active_release_per_benchmark"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.benchmark} {self.version}"


class Preset(Row):
    """How to ask: sampling sent whole, limits, stop strings, system prompt. Part of every RunSpec by digest."""

    benchmark = models.ForeignKey(Benchmark, models.PROTECT, related_name="presets")
    name = models.SlugField(max_length=60)
    version = models.CharField(max_length=20)
    body = models.JSONField()
    digest = DigestField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "name", "version"], name="one_preset_per_version"),
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


class Item(Row):
    """One item of a release, without its text: where it stands in the packs and what it may be counted by."""

    class Split(models.TextChoices):
        PRACTICE = "practice"
        RESERVE = "reserve"
        ACTIVE = "active"
        RETIRED = "retired"

    release = models.ForeignKey(Release, models.PROTECT, related_name="items")
    index = models.PositiveIntegerField(null=True, help_text="Position in the packs; empty for reserve items.")
    split = models.CharField(max_length=10, choices=Split.choices)
    kind = models.CharField(max_length=20)
    category = models.CharField(max_length=80)
    group = models.UUIDField(help_text="Near-duplicate group; always whole on one side of the practice/hidden line.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["release", "index"], name="one_item_per_index")]
        indexes = [models.Index(fields=["release", "split"], name="item_by_split")]
