"""One grade, without a database: sealed packs in, sealed verdicts and a signed scorecard out.

1. Open outputs and answers with the grader's key; each must have the content digest that the rows name, and be of the
   run, RunSpec and release that the rows name: a true pack in another run's place is refused like a false one.
2. Grade (``evaluator.checkers.grading``, pure).
3. Seal the verdicts for grader and auditor; sign the scorecard.

What a submitter may learn of it is decided in ``released``, by a rule that every released number names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluator.checkers.grading import Graded, grade
from evaluator.errors import IntegrityError
from evaluator.records.scorecard import Figures, GradingConfig, Scorecard, statement
from evaluator.vault import answers, outputs, signatures, verdicts
from evaluator.vault.keyring import Keyring
from evaluator.vault.sealing import PackRef, Sealed

RELEASE_RULE = "direct/1"
"""The hidden score as graded. Its name stands at every number, so that a board never mixes rules."""


@dataclass(frozen=True)
class Packs:
    """What is graded: names and sealed bytes. Ids are the text of UUIDs."""

    run: str
    runspec: str
    release: str
    outputs: PackRef
    sealed_outputs: bytes
    answers: PackRef
    sealed_answers: bytes


@dataclass(frozen=True)
class GradeResult:
    scorecard: Scorecard
    verdicts: Sealed
    envelope: dict[str, Any]
    """DSSE, signed with the grader's key."""


def open_and_grade(packs: Packs, config: GradingConfig, keyring: Keyring) -> Graded:
    """Steps 1 and 2: what a replay repeats."""
    given = outputs.unseal(packs.outputs, packs.sealed_outputs, keyring)
    expected = answers.unseal(packs.answers, packs.sealed_answers, keyring)
    if (given.header["run"], given.header["runspec"]) != (packs.run, packs.runspec):
        raise IntegrityError("the outputs pack is of another run or RunSpec")
    if expected.header["release"] != packs.release:
        raise IntegrityError("the answers pack is of another release")
    return grade(given, expected, config)


def grade_run(packs: Packs, config: GradingConfig, keyring: Keyring, signing_key: Path) -> GradeResult:
    graded = open_and_grade(packs, config, keyring)
    return GradeResult(
        graded.scorecard,
        verdicts.seal_written(graded.pack, keyring),
        signatures.sign(statement(graded.scorecard), signing_key),
    )


def released(card: Scorecard) -> dict[str, Any]:
    """The columns of ``ReleasedScore``: the hidden figures, and of practice items the score and outcomes."""
    hidden = card.hidden
    shown: Mapping[str, Any] = hidden.as_json() if hidden else {}
    return {
        "score": shown.get("score") if card.ranked else None,
        "low": shown.get("low") if card.ranked else None,
        "high": shown.get("high") if card.ranked else None,
        "worst": shown.get("worst") if card.ranked else None,
        "items": shown.get("items", 0), "valid": shown.get("valid", 0), "clusters": shown.get("clusters", 0),
        "coverage": shown.get("coverage", "0"), "ranked": card.ranked, "faults": dict(shown.get("faults", {})),
        "practice_score": card.practice.score if card.practice else None,
        "limits": _outcomes(card.practice), "grader_digest": card.grader, "scorecard_digest": card.digest,
        "rule": RELEASE_RULE,
    }  # fmt: skip


def _outcomes(figures: Figures | None) -> dict[str, int]:
    return dict(figures.outcomes) if figures else {}
