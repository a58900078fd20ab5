"""The scorecard: what a run was worth, and on what grounds. Made by the grader, replayed by the auditor.

Everything that decided it stands in it by digest: RunSpec, outputs, answers, verdicts, grader, configuration. The same
of these six give the same scorecard, byte for byte. Figures are decimal text of six places. Hidden items (those that
count for the board) and practice items (open to submitters) are never mixed.

A fault is ours and is never scored: ``score`` is the mean over items with a scored outcome, ``worst`` the same with
every fault as a wrong answer, ``coverage`` the share of items that were scored. Below the coverage gate a run isn't
ranked.

``statement`` wraps a scorecard for a DSSE envelope, as an in-toto Statement v1 with a predicate of our own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from evaluator.errors import FaultKind, Finding
from evaluator.records.canonical import canonical, digest
from evaluator.records.outcomes import Outcome
from evaluator.records.shapes import (
    Check,
    Shape,
    boolean,
    decimal,
    digest_text,
    integer,
    mapping_of,
    nullable,
    one_of,
    shaped,
    text,
    uuid_text,
)

FORMAT = "heldout.scorecard/1"
CONFIG_FORMAT = "heldout.grading/1"
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "https://heldout.example/attestation/scorecard/v1"
PAYLOAD_TYPE = "application/vnd.in-toto+json"

UNKNOWN_FAULT = "unknown"
"""For a fault whose record does not begin with a kind of ``FaultKind``."""

_SHARE = decimal("0", "1")
_COUNT = integer(0)


@dataclass(frozen=True, kw_only=True)
class GradingConfig(Shape):
    """What may be chosen when grading. Part of a grade's key: another configuration makes another grade."""

    format: str = shaped(one_of(CONFIG_FORMAT), default=CONFIG_FORMAT)
    confidence: str = shaped(one_of("0.90", "0.95", "0.99"), default="0.95")
    coverage_gate: str = shaped(_SHARE, default="0.95")

    @property
    def digest(self) -> str:
        return digest(self.as_json())


@dataclass(frozen=True, kw_only=True)
class Figures(Shape):
    """The numbers of one split. Without a scored item there is no score, and it is null: missing is never nought."""

    items: int = shaped(integer(1))
    valid: int = shaped(_COUNT)
    clusters: int = shaped(_COUNT)
    score: str | None = shaped(nullable(_SHARE))
    standard_error: str | None = shaped(nullable(decimal("0")))
    low: str | None = shaped(nullable(_SHARE))
    high: str | None = shaped(nullable(_SHARE))
    method: str | None = shaped(nullable(text(40, 1)))
    worst: str = shaped(_SHARE)
    coverage: str = shaped(_SHARE)
    outcomes: Mapping[str, int] = shaped(mapping_of(_COUNT))
    faults: Mapping[str, int] = shaped(mapping_of(_COUNT))
    reasons: Mapping[str, int] = shaped(mapping_of(_COUNT))

    def further_findings(self, where: str) -> list[Finding]:
        """Counts that contradict each other."""
        sums = {
            "outcomes": sum(self.outcomes.values()) == self.items,
            "faults": sum(self.faults.values()) == self.items - self.valid,
            "reasons": sum(self.reasons.values()) == self.items,
            "score": (self.score is None) == (self.valid == 0),
        }
        known = {*Outcome} >= self.outcomes.keys() and {*FaultKind, UNKNOWN_FAULT} >= self.faults.keys()
        wrong = [name for name, right in {**sums, "known names": known}.items() if not right]
        return [Finding("scorecard.sums", where, f"{name} does not fit the counts.", "") for name in wrong]


_DIGEST: Check = digest_text


@dataclass(frozen=True, kw_only=True)
class Scorecard(Shape):
    """The whole. ``hidden`` is what the board ranks by; it is null where a release has no hidden items."""

    format: str = shaped(one_of(FORMAT), default=FORMAT)
    run: str = shaped(uuid_text)
    runspec: str = shaped(_DIGEST)
    outputs: str = shaped(_DIGEST)
    answers: str = shaped(_DIGEST)
    verdicts: str = shaped(_DIGEST)
    grader: str = shaped(_DIGEST)
    config: str = shaped(_DIGEST)
    confidence: str = shaped(_SHARE)
    coverage_gate: str = shaped(_SHARE)
    ranked: bool = shaped(boolean)
    hidden: Figures | None
    practice: Figures | None

    @cached_property
    def digest(self) -> str:
        return digest(self.as_json())


def statement(card: Scorecard) -> dict[str, Any]:
    """The in-toto Statement v1: its subjects are what was graded and what came out, its predicate the scorecard."""
    return {
        "_type": STATEMENT_TYPE,
        "subject": [
            {"name": name, "digest": {"sha256": getattr(card, name).removeprefix("sha256:")}}
            for name in ("outputs", "verdicts")
        ],
        "predicateType": PREDICATE_TYPE,
        "predicate": card.as_json(),
    }


def statement_bytes(card: Scorecard) -> bytes:
    """What goes into the envelope. DSSE signs these very bytes, so that no verifier has to canonicalise anything."""
    return canonical(statement(card))
