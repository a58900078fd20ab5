"""The table of kinds, and the two things one does with it: check an output, and check an item before it is taken.

A kind is a file of this folder with ``OPTIONS`` (what an item may state), ``expect`` (gold answers parsed once) and
``check``. Adding one is a line here and a folder of cases below ``fixtures/cases``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import orjson

from evaluator.checkers import choice, exact, numeric
from evaluator.checkers.reading import answer_part
from evaluator.errors import Finding
from evaluator.records.canonical import canonical
from evaluator.records.shapes import Check, list_of, mistakes, text
from evaluator.records.verdicts import WRONG, Reason, Verdict

MOST_ANSWERS = 100
LONGEST_GOLD = 4_000


@dataclass(frozen=True)
class Kind:
    """One row. ``expect`` raises ``ValueError`` for gold that the kind's own rule can't read."""

    options: Mapping[str, Check]
    expect: Callable[[Sequence[str], Mapping[str, Any], Sequence[str] | None], Any]
    check: Callable[[str, Any], Verdict]


KINDS: Mapping[str, Kind] = {
    "choice": Kind(choice.OPTIONS, choice.expect, choice.check),
    "exact": Kind(exact.OPTIONS, exact.expect, exact.check),
    "numeric": Kind(numeric.OPTIONS, numeric.expect, numeric.check),
}

_UNFINISHED = Verdict(WRONG, Reason.UNFINISHED_THINKING.value, None)
_SURROGATES = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")


class Checker(NamedTuple):
    """The checker of one item: its kind's function with the item's gold parsed."""

    judge: Callable[[str, Any], Verdict]
    expected: Any

    def check(self, untrusted_text: str) -> Verdict:
        """The verdict on an output. Total: any text at all gets one, within a second and without side effects."""
        part = answer_part(untrusted_text)
        if part is None:
            return _UNFINISHED
        verdict = self.judge(part.text, self.expected)
        if part.cut and verdict.reason == Reason.NO_ANSWER:
            return verdict._replace(reason=Reason.TOO_LONG.value)
        if verdict.found is None or verdict.found.isascii():
            return verdict
        return verdict._replace(found=verdict.found.translate(_SURROGATES))


def checker(
    kind: str, answers: Sequence[str], options: Mapping[str, Any], choices: Sequence[str] | None = None
) -> Checker:
    """Parse an item's gold once. Raises ``ValueError`` where ``validate_options`` would have had findings."""
    if kind not in KINDS:
        raise ValueError(f"there is no checker {kind!r}")
    row = KINDS[kind]
    return Checker(row.check, row.expect(answers, options, choices))


def check(
    kind: str,
    untrusted_text: str,
    answers: Sequence[str],
    options: Mapping[str, Any] | None = None,
    choices: Sequence[str] | None = None,
) -> Verdict:
    """The verdict on one output of one item. For many outputs of one item ``checker`` is the quicker way."""
    written = canonical(options) if options else b"{}"
    item = _kept(kind, tuple(answers), written, None if choices is None else tuple(choices))
    return item.check(untrusted_text)


@lru_cache(maxsize=4096)
def _kept(kind: str, answers: tuple[str, ...], options: bytes, choices: tuple[str, ...] | None) -> Checker:
    return checker(kind, answers, orjson.loads(options), choices)


def right_output(kind: str, answer: str, options: Mapping[str, Any]) -> str:
    """An output that must be marked right: what an oracle that knows ``answer`` writes for such an item."""
    marked = kind == "exact" and options.get("read", "") == "marker"
    return f"Answer: {answer}" if marked else answer


def validate_options(
    kind: str,
    options: Mapping[str, Any],
    answers: Sequence[str],
    choices: Sequence[str] | None = None,
    where: str = "item",
) -> list[Finding]:
    """What is wrong with an item's gold and checker options. Nothing, or the item must not be taken.

    1. The kind exists, and ``options`` holds only what it knows, each in its range.
    2. There are 1 to ``MOST_ANSWERS`` answers, each text that can be stored.
    3. Each answer can be read under the item's own rules.
    4. Each answer passes: an item whose gold fails its own checker can't be solved by anyone.
    """
    if kind not in KINDS:
        known = ", ".join(sorted(KINDS))
        return [Finding("checker.kind", where, f"has an unknown kind {str(kind)[:40]!r}.", f"Use one of {known}.")]
    found = mistakes(options, KINDS[kind].options, f'{where}, "checker"', frozenset(KINDS[kind].options))
    found += _answer_findings(answers, where)
    if choices is not None and not list_of(text()).test(choices):
        found.append(Finding("checker.choices", f'{where}, "choices"', "must be a list of text.", ""))
    if found:
        return found
    try:
        item = checker(kind, answers, options, choices)
    except ValueError as error:
        return [_unreadable(kind, answers, options, choices, where) or _answer_finding(where, str(error))]
    failing = [answer for answer in answers if not item.check(right_output(kind, answer, options)).right]
    return [_answer_finding(where, f'"{answer[:60]}" fails its own checker') for answer in failing]


def _answer_findings(answers: Sequence[str], where: str) -> list[Finding]:
    if not isinstance(answers, list | tuple) or not 1 <= len(answers) <= MOST_ANSWERS:
        return [_answer_finding(where, f"needs a list of 1 to {MOST_ANSWERS} texts")]
    if any([not isinstance(answer, str) for answer in answers]):
        return [_answer_finding(where, "must be text; write numbers in quotes")]
    if any([len(answer) > LONGEST_GOLD for answer in answers]):
        return [_answer_finding(where, f"is longer than {LONGEST_GOLD} characters")]
    if any([not answer.strip() or "\0" in answer or _has_surrogate(answer) for answer in answers]):
        return [_answer_finding(where, "is blank, or holds a NUL or a lone surrogate")]
    return []


def _has_surrogate(text: str) -> bool:
    return not text.isascii() and any(["\ud800" <= character <= "\udfff" for character in text])


def _unreadable(
    kind: str, answers: Sequence[str], options: Mapping[str, Any], choices: Sequence[str] | None, where: str
) -> Finding | None:
    """The finding that names the first answer which can't be read by itself, if it is one answer's fault."""
    for answer in answers:
        try:
            checker(kind, [answer], options, choices)
        except ValueError as error:
            return _answer_finding(where, f'"{answer[:60]}" {error}')
    return None


def _answer_finding(where: str, problem: str) -> Finding:
    return Finding("checker.answer", f'{where}, "answer"', f"{problem}.", "Correct the answer or the checker options.")
