"""``manage.py freeze FILE``, as curator: read a task file and freeze it as a release, all of it or nothing."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, CommandError, CommandParser

from evaluator import blobs
from evaluator.curator import freezing, importing
from evaluator.curator.item import Item
from evaluator.errors import Refused
from evaluator.records.runspec import Preset
from evaluator.vault.keyring import Keyring
from evaluator.vault.sealing import PackRef
from leaderboard.ledger import releases
from leaderboard.models import Benchmark, Release

GREEDY: dict[str, Any] = {
    "name": "greedy", "version": "1", "mode": "chat", "system": None, "temperature": "0", "top_p": "1", "top_k": 0,
    "max_tokens": 64, "stop": [], "seed": 0, "dtype": "float32", "batch": {"policy": "length-sorted", "size": 16},
    "context": None, "coverage_gate": "0.95",
}  # fmt: skip
"""What is asked when no preset is given: the most likely token each time, in the precision that a CPU keeps exact."""


class Command(BaseCommand):
    help = "Read a task file and freeze it as a release (IDENTITY=curator)."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--benchmark", required=True, help="Slug; made where there is none.")
        parser.add_argument("--title")
        parser.add_argument("--description", default="")
        parser.add_argument("--release", default="1.0.0", help="Version of the release.")
        parser.add_argument("--preset", type=Path, help="A preset as JSON; greedy sampling where none is given.")
        parser.add_argument("--daily-limit", type=int, default=20)
        parser.add_argument("--activate", action="store_true", help="Take submissions on it from now on.")
        parser.add_argument("--dry-run", action="store_true", help="Read and report; write nothing.")
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: object, **options: Any) -> None:
        if settings.IDENTITY != "curator":
            raise CommandError("task sets are the curator's: set IDENTITY=curator")
        try:
            told = self._freeze(options)
        except Refused as refusal:
            lines = [str(finding) for finding in refusal.findings]
            raise CommandError("nothing was imported\n  " + "\n  ".join(lines)) from refusal
        except OSError as error:
            raise CommandError(f"{options['file']}: {error.strerror}") from error
        self.stdout.write(json.dumps(told) if options["json"] else _sentence(told))

    def _freeze(self, options: dict[str, Any]) -> dict[str, Any]:
        with options["file"].open("rb") as stream:
            receipt, tasks = importing.load(stream, options["file"].name)
        preset = Preset.from_json(json.loads(options["preset"].read_text()) if options["preset"] else GREEDY, "preset")
        told = {"items": receipt.items, "notes": list(receipt.notes), "digest": receipt.normalised}
        if options["dry_run"]:
            return told
        benchmark = ensure_benchmark(
            options["benchmark"], options["title"], options["description"], options["daily_limit"]
        )
        release = freeze(benchmark, options["release"], tasks)
        ensure_preset(benchmark, preset)
        if options["activate"]:
            releases.activate(release)
        return told | {"release": str(release.pk), "version": release.version, "practice": release.practice_digest}


def ensure_benchmark(slug: str, title: str | None, description: str, daily_limit: int) -> Benchmark:
    found = Benchmark.objects.filter(slug=slug).first()
    return found or releases.create_benchmark(slug, title or slug, description, daily_limit)


def ensure_preset(benchmark: Benchmark, preset: Preset) -> None:
    """One row a version. The same name and version with another body would change what old runs say they ran."""
    found = benchmark.presets.filter(name=preset.name, version=preset.version).first()
    if found is None:
        releases.create_preset(benchmark, preset.as_json())
    elif found.digest != preset.digest:
        raise Refused.one(
            "preset.version", f"preset {preset.name} {preset.version}", "It exists with another body.",
            "Give the new one a higher version.",
        )  # fmt: skip


def freeze(benchmark: Benchmark, version: str, tasks: Sequence[Item]) -> Release:
    """Seal, then write the rows. Packs without a row are rubbish; a row without packs can't come to be."""
    if benchmark.releases.filter(version=version).exists():
        raise Refused.one("release.version", f"{benchmark} {version}", "It is frozen already.", "Use a new version.")
    store = freezing.Stores(blobs.packs(settings.STORE), blobs.practice(settings.STORE))
    keyring = Keyring(settings.PUBLIC_KEYS, settings.SECRETS / "vault.key")
    key = _key(benchmark, keyring, store)
    frozen = freezing.freeze(tasks, release=uuid.uuid4(), key=key, keyring=keyring, stores=store)
    columns = {
        "version": version, "prompts_digest": frozen.prompts.content, "prompts_sealed": frozen.prompts.sealed,
        "answers_digest": frozen.answers.content, "answers_sealed": frozen.answers.sealed,
        "items_digest": frozen.items_pack.content, "items_sealed": frozen.items_pack.sealed,
        "practice_digest": frozen.practice, "counts": frozen.counts,
    }  # fmt: skip
    rows = [
        {"id": row.id, "index": row.index, "split": row.split, "kind": row.kind, "category": row.category,
         "group": row.group}
        for row in frozen.items
    ]  # fmt: skip
    return releases.freeze(benchmark, frozen.release, columns, rows)


def _key(benchmark: Benchmark, keyring: Keyring, stores: freezing.Stores) -> bytes:
    """The benchmark's secret, from its newest release: so a group keeps its name from one release to the next."""
    newest = benchmark.releases.order_by("-frozen_at").first()
    if newest is None:
        return freezing.new_key()
    return freezing.key_of(PackRef(newest.items_sealed, newest.items_digest), keyring=keyring, stores=stores)


def _sentence(told: dict[str, Any]) -> str:
    lines = [f"{told['items']} items read", *told["notes"]]
    lines.append(f"frozen as {told['version']} ({told['release']})" if "release" in told else "nothing was written")
    return "\n".join(lines)
