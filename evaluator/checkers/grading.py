"""From outputs and answers to verdicts and a scorecard: the grade, as a pure function.

Same outputs, same answers, same grader and same configuration give the same bytes, in whatever order the records come
and on whatever machine.

1. Outputs and answers must be of the same items: one output for each answer, none without. A missing or unknown index
   is refused, because a run that lost an item is not a worse run but a broken one.
2. A fault gets no score. Every other outcome is checked on the text that is there.
3. Verdicts by ascending index make the verdicts pack; its digest goes into the scorecard.
4. Figures per split, clustered by near-duplicate group.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from evaluator.checkers.identity import grader_digest
from evaluator.checkers.table import checker
from evaluator.errors import FaultKind, Refused
from evaluator.estimates import coverage, decimal_text, estimate_items, worst_case
from evaluator.records.canonical import digest_of_bytes
from evaluator.records.outcomes import Outcome
from evaluator.records.packs import Pack
from evaluator.records.scorecard import UNKNOWN_FAULT, Figures, GradingConfig, Scorecard
from evaluator.records.verdicts import RIGHT, fault_record, record, write_verdicts

_SPLITS = {"hidden": "active", "practice": "practice"}
_KINDS = frozenset(map(str, FaultKind))


class Graded(NamedTuple):
    """``records`` are the verdicts, ``pack`` their canonical bytes (to be sealed), ``scorecard`` the sum of it all."""

    records: list[dict[str, Any]]
    pack: bytes
    scorecard: Scorecard


class Item(NamedTuple):
    """One item with everything that its grade depends on."""

    output: Mapping[str, Any]
    answer: Mapping[str, Any]


def grade(outputs: Pack, answers: Pack, config: GradingConfig, *, grader: str | None = None) -> Graded:
    """Grade a run. ``grader`` is the digest to cite, that of the running grader by default.

    Raises ``Refused`` where the packs are not of the same items or an answer can't be read by its own checker.
    """
    items = _matched(outputs.records, answers.records)
    records = [_verdict(item) for item in items]
    header = {
        "run": outputs.header["run"], "runspec": outputs.header["runspec"],
        "outputs": outputs.digest, "answers": answers.digest, "grader": grader or grader_digest(),
    }  # fmt: skip
    pack = write_verdicts(header, records)
    figures = {name: _figures(items, records, split, config) for name, split in _SPLITS.items()}
    hidden = figures["hidden"]
    card = Scorecard(
        **header, verdicts=digest_of_bytes(pack), config=config.digest,
        confidence=config.confidence, coverage_gate=config.coverage_gate,
        ranked=hidden is not None and hidden.valid > 0 and _passes(hidden, config.coverage_gate),
        hidden=hidden, practice=figures["practice"],
    )  # fmt: skip
    return Graded(records, pack, card.checked(f"scorecard of run {outputs.header['run']}"))


def _passes(figures: Figures, gate: str) -> bool:
    return Fraction(figures.valid, figures.items) >= Fraction(gate)


def _matched(outputs: Sequence[Mapping[str, Any]], answers: Sequence[Mapping[str, Any]]) -> list[Item]:
    """Outputs and answers of the same index, ascending."""
    by_index = {output["index"]: output for output in outputs}
    expected = {answer["index"]: answer for answer in answers}
    if by_index.keys() != expected.keys() or len(by_index) != len(outputs) or len(expected) != len(answers):
        missing, unknown = expected.keys() - by_index.keys(), by_index.keys() - expected.keys()
        problem = f"{len(missing)} items have no output, {len(unknown)} outputs have no item, or an index is repeated."
        raise Refused.one("grade.items", "outputs and answers", problem, "Grade the outputs of this release's items.")
    return [Item(by_index[index], expected[index]) for index in sorted(expected)]


def _verdict(item: Item) -> dict[str, Any]:
    output, answer = item
    if output["outcome"] == Outcome.FAULT:
        return fault_record(output["index"])
    try:
        judge = checker(answer["kind"], answer["answer"], answer["checker"], answer.get("choices"))
    except ValueError as error:
        where = f"answer {output['index']}"
        raise Refused.one("grade.answer", where, f"{error}.", "Freeze the release anew.") from None
    return record(output["index"], output["outcome"], judge.check(output["text"]))


def _figures(
    items: Sequence[Item], records: Sequence[Mapping[str, Any]], split: str, config: GradingConfig
) -> Figures | None:
    """The figures of one split; ``None`` where it has no items."""
    chosen = [(item, verdict) for item, verdict in zip(items, records, strict=True) if item.answer["split"] == split]
    if not chosen:
        return None
    scores = [
        (item.answer["group"], 1 if verdict["score"] == RIGHT else 0)
        for item, verdict in chosen if verdict["score"] is not None
    ]  # fmt: skip
    return Figures(
        items=len(chosen),
        valid=len(scores),
        **_estimated(scores, config),
        worst=_share(worst_case(sum([score for _, score in scores]), len(chosen))),
        coverage=_share(coverage(len(scores), len(chosen))),
        outcomes=_counted([item.output["outcome"] for item, _ in chosen]),
        faults=_counted([_fault_kind(item.output) for item, verdict in chosen if verdict["score"] is None]),
        reasons=_counted([verdict["reason"] for _, verdict in chosen]),
    )


def _estimated(scores: Sequence[tuple[str, int]], config: GradingConfig) -> dict[str, Any]:
    """The fields of ``Figures`` that come from the estimate; all missing where nothing was scored."""
    if not scores:
        return {"clusters": 0, "score": None, "standard_error": None, "low": None, "high": None, "method": None}
    found = estimate_items(scores, config.confidence)
    error = found.standard_error
    return {
        "clusters": found.clusters,
        "score": decimal_text(found.mean),
        "standard_error": None if error is None else decimal_text(error),
        "low": decimal_text(found.interval.low),
        "high": decimal_text(found.interval.high),
        "method": found.interval.method,
    }


def _fault_kind(output: Mapping[str, Any]) -> str:
    """The kind in front of a fault's code: "engine/oom" is of the engine."""
    kind = str(output["detail"]).partition("/")[0]
    return kind if kind in _KINDS else UNKNOWN_FAULT


def _counted(names: Sequence[str]) -> dict[str, int]:
    return dict(sorted(Counter(names).items()))


def _share(value: Fraction) -> str:
    return decimal_text(value)
