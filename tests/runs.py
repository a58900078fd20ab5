"""A small run, sealed in a store of its own: what the grader gets to grade and the auditor to replay."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evaluator import blobs
from evaluator.auditor.steps import RecordedGrade
from evaluator.grader import steps
from evaluator.records.scorecard import GradingConfig
from evaluator.vault import answers, outputs
from evaluator.vault.sealing import PackRef
from tests.keyrings import Keys
from tests.vault.records import answer_record, output_record

RUN = "8c4e3f2a-0000-4000-8000-00000000000a"
RELEASE = "8c4e3f2a-0000-4000-8000-00000000000b"
RUNSPEC = "sha256:" + "5" * 64
CONFIG = GradingConfig()

OUTPUTS = [
    output_record(0, "The answer is 4."),
    output_record(1, "5 or 6"),
    output_record(2, "Paris"),
    output_record(3, "B", outcome="limit"),
    {**output_record(4, "", outcome="fault"), "detail": "engine/oom"},
]
ANSWERS = [
    answer_record(0, "4", split="practice"),
    answer_record(1, "5"),
    answer_record(2, "Paris", kind="exact"),
    answer_record(3, "B", kind="choice", choices=["red", "blue"]),
    answer_record(4, "9"),
]


@dataclass(frozen=True)
class Stage:
    """A store with a sealed run, and the keys of everybody."""

    keys: Keys
    store: blobs.Blobs
    outputs: PackRef
    answers: PackRef

    def packs(self, **other: Any) -> steps.Packs:
        """What the grader is given; fields in ``other`` replace the true ones."""
        given = steps.Packs(
            RUN, RUNSPEC, RELEASE, self.outputs, self.store.get(self.outputs.sealed),
            self.answers, self.store.get(self.answers.sealed),
        )  # fmt: skip
        return replace(given, **other)

    def grade(self, config: GradingConfig = CONFIG, **other: Any) -> steps.GradeResult:
        ring, key = self.keys.ring("grader"), self.keys.signing("grader")
        return steps.grade_run(self.packs(**other), config, ring, key)

    def record(self, result: steps.GradeResult) -> RecordedGrade:
        """The grade as the ledger would have it, verdicts in the store."""
        self.store.put(result.verdicts.data)
        card = result.scorecard
        return RecordedGrade(
            run=RUN, runspec=RUNSPEC, release=RELEASE, outputs=self.outputs, answers=self.answers,
            verdicts=result.verdicts.ref, grader=card.grader, config_digest=card.config,
            scorecard_digest=card.digest, config=CONFIG.as_json(), scorecard=card.as_json(), envelope=result.envelope,
        )  # fmt: skip


def stage(folder: Path, keys: Keys, said: list[dict[str, Any]] | None = None) -> Stage:
    """A run whose outputs are ``said`` (``OUTPUTS`` by default), sealed by runner and curator."""
    store = blobs.packs(folder)
    written = outputs.seal(RUN, RUNSPEC, said or OUTPUTS, keys.ring("runner"))
    expected = answers.seal(RELEASE, ANSWERS, keys.ring("curator"))
    store.put(written.data)
    store.put(expected.data)
    return Stage(keys, store, written.ref, expected.ref)
