"""``manage.py demo_benchmark``, as curator: the demo's benchmark, its items drawn from a fresh secret seed, once."""

from __future__ import annotations

import io
import json
from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, CommandError, CommandParser

from evaluator.curator import demo_tasks, importing
from evaluator.records.runspec import Preset
from leaderboard.ledger import releases
from leaderboard.management.commands.freeze import GREEDY, ensure_benchmark, ensure_preset, freeze
from leaderboard.models import Release

TITLE = "Everyday questions"
DESCRIPTION = (
    "Short questions of three kinds: exact answers, multiple choice and numeric word problems. "
    "Every installation draws its own items, so nobody has seen them."
)
VERSION = "1.0.0"
SHORT = {"max_tokens": 12, "batch": {"policy": "length-sorted", "size": 32}}
"""Answers are a word or a number. Batches of 32 cost a quarter less than of 16 on two cores."""


class Command(BaseCommand):
    help = "Make the demo's benchmark where there is none (IDENTITY=curator)."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--slug", default="everyday")

    def handle(self, *args: object, **options: Any) -> None:
        if settings.IDENTITY != "curator":
            raise CommandError("task sets are the curator's: set IDENTITY=curator")
        benchmark = ensure_benchmark(options["slug"], TITLE, DESCRIPTION, 50)
        release = Release.objects.filter(benchmark=benchmark, version=VERSION).first()
        if release is None:
            drawn = io.BytesIO(demo_tasks.task_file(demo_tasks.new_seed()))
            release = freeze(benchmark, VERSION, importing.load(drawn, "demo")[1])
        ensure_preset(benchmark, Preset.from_json(GREEDY | SHORT, "preset"))
        if release.state == Release.State.FROZEN:
            releases.activate(release)
        self.stdout.write(json.dumps({"release": str(release.pk), "practice": release.practice_digest}))
