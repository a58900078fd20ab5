"""Everything a run was made of, grouped and explained: what an outsider needs to judge or replay it.

Of what workers reported only the named facts are shown: times and counts would tell how hidden items were answered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from leaderboard.models import Attempt, ReleasedScore, Run
from leaderboard.web import words

EXPLANATIONS = {
    "checkpoint": "The weights, tokenizer and template: every file by its SHA-256 in one manifest.",
    "release": "The frozen task set. Digests name its packs; hidden text is in no database.",
    "preset": "How the model was asked. Sampling is always sent whole; the checkpoint's own defaults never apply.",
    "engine": "What produces the tokens, with its versions and flags.",
    "isolation": "What separates the model from everything else, and whether each identity is a user of its own.",
    "limits": "What the container was granted at least, and may use at most.",
    "host": "The machine. Bit-equal outputs are promised on equal hardware only.",
    "seeds": "Every source of chance.",
    "harness": "This software.",
    "code": "The state of this software's source, and the locks of its environments.",
    "hello": "What the engine in the container said it is.",
    "ready": "What was effectively loaded.",
    "controls": "Items with known results, at the start and the end; a run whose controls fail is void.",
}
"""In the order of the page."""

FACTS: dict[str, frozenset[str]] = {
    "hello": frozenset({"wire", "engine", "versions"}),
    "ready": frozenset({"dtype", "vocabulary", "context", "threads", "endings"}),
}
"""Of what a guest reported, the names that a page may show. Times and counts are not among them."""


@dataclass(frozen=True)
class Group:
    name: str
    explanation: str
    rows: tuple[tuple[str, object], ...]


@dataclass(frozen=True)
class Try:
    """One attempt as its team may see it."""

    number: int
    kind: str
    ending: str
    duration: str
    runspec_digest: str
    facts: tuple[Group, ...]


@dataclass(frozen=True)
class Provenance:
    run: Run
    runspec: Mapping[str, Any]
    groups: tuple[Group, ...]
    tries: tuple[Try, ...]
    released: ReleasedScore | None

    @property
    def command(self) -> str:
        return f"heldout replay {self.run.pk}"

    def as_json(self) -> dict[str, object]:
        return {
            "run": str(self.run.pk),
            "runspec_digest": self.run.runspec_digest,
            "runspec": self.runspec,
            "outputs_digest": self.run.outputs_digest,
            "grader_digest": self.released.grader_digest if self.released else None,
            "scorecard_digest": self.released.scorecard_digest if self.released else None,
            "attempts": [
                {"number": one.number, "kind": one.kind, "ending": one.ending, "runspec_digest": one.runspec_digest}
                for one in self.tries
            ],
            "replay": self.command,
        }


_ATTEMPT = ("pk", "run", "kind", "number", "runspec", "runspec_digest", "facts", "started_at", "ended_at", "ending")


def read(run: Run) -> Provenance:
    attempts = list(Attempt.objects.filter(run=run.pk).only(*_ATTEMPT).order_by("started_at", "pk"))
    runspec = next((one.runspec for one in reversed(attempts) if one.runspec_digest == run.runspec_digest), None)
    if runspec is None:
        runspec = next((one.runspec for one in reversed(attempts) if one.runspec), None)
    released = ReleasedScore.objects.filter(run=run.pk).first()
    return Provenance(run, runspec or {}, groups(runspec or {}), tuple(map(_try, attempts)), released)


def _try(attempt: Attempt) -> Try:
    shown: dict[str, Any] = {
        part: {name: value for name, value in attempt.facts[part].items() if name in names}
        for part, names in FACTS.items()
        if isinstance(attempt.facts.get(part), Mapping)
    }
    controls = attempt.facts.get("controls")
    if isinstance(controls, list):
        shown["controls"] = {str(one["name"]): "passed" if one["passed"] else "failed" for one in controls}
    ended = attempt.ended_at or timezone.now()
    return Try(
        attempt.number, attempt.kind, words.reason(attempt.ending),
        words.bucket(attempt.started_at, ended), attempt.runspec_digest, groups(shown),
    )  # fmt: skip


def groups(record: Mapping[str, Any]) -> tuple[Group, ...]:
    """One group for each part of the record, in the order above; plain values at its top go together, first."""
    order = {name: number for number, name in enumerate(EXPLANATIONS)}
    record = dict(sorted(record.items(), key=lambda item: (order.get(item[0], len(order)), item[0])))
    plain = tuple((_words(name), value) for name, value in record.items() if not isinstance(value, Mapping | list))
    parts = [
        Group(_words(name), EXPLANATIONS.get(name, ""), tuple(_flat(value)))
        for name, value in record.items()
        if isinstance(value, Mapping | list)
    ]
    return ((Group("general", "", plain),) if plain else ()) + tuple(parts)


def _flat(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    """Leaves with their path. Short lists stay on one line."""
    if isinstance(value, Mapping) and value.keys() == {"name", "size", "sha256"}:
        yield f"file {value['name']}", f"sha256:{value['sha256']}"
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from _flat(item, f"{path} {_words(str(name))}".strip())
    elif isinstance(value, list) and any(isinstance(item, Mapping | list) for item in value):
        for number, item in enumerate(value, start=1):
            yield from _flat(item, f"{path} {number}".strip())
    elif isinstance(value, list):
        yield path, ", ".join(str(item) for item in value) or "none"
    else:
        yield path, value


def _words(name: str) -> str:
    return name.replace("_", " ")
