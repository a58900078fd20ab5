"""Short texts that must equal an expected one after a stated normalisation (see ``normal``).

What is read is the option ``read``:

    "marker-or-first-line" (default)   what follows the first final marker (see ``marks``), else the first line
    "first-line"                       the first line that isn't blank
    "marker"                           what follows the first final marker; without one there is no answer
    "whole"                            the whole text

Of a line, the whole or its first sentence may be the answer: "Paris. It is the capital." reads as "Paris".

>>> expected = expect(["Paris"], {}, None)
>>> check("**Answer:** paris.\\nQ: And of Spain? Answer: Madrid", expected)
Verdict(score='1', reason='equal+run-on', found='paris.')
>>> check("It is London", expected)
Verdict(score='0', reason='different', found='It is London')
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from evaluator.checkers.marks import claims
from evaluator.checkers.normal import OPTIONS as NORMAL_OPTIONS
from evaluator.checkers.normal import Rule, normal, rule
from evaluator.records.shapes import Check, one_of
from evaluator.records.verdicts import LONGEST_FOUND, RIGHT, RUN_ON, WRONG, Reason, Verdict

OPTIONS: Mapping[str, Check] = {
    "read": one_of("marker-or-first-line", "first-line", "marker", "whole"),
    **NORMAL_OPTIONS,
}

LONGEST_ANSWER = 10_000
"""A text longer than this is no short text: it is not compared."""

_SENTENCE = re.compile(r"[.!?](?=\s)|[。！？]")


class Expected(NamedTuple):
    """The normalised gold answers of one item with its rules."""

    answers: frozenset[str]
    read: str
    rule: Rule


def expect(answers: Sequence[str], options: Mapping[str, Any], choices: Sequence[str] | None) -> Expected:  # noqa: ARG001
    """The parsed answers. Raises ``ValueError`` where nothing of one is left after normalisation."""
    how = rule(options)
    normalised = frozenset([normal(answer, how) for answer in answers])
    if "" in normalised:
        raise ValueError("is empty after normalisation, so that an empty output would be right")
    return Expected(normalised, options.get("read", "marker-or-first-line"), how)


def check(answer_part: str, expected: Expected) -> Verdict:
    """Whether the text that counts in ``answer_part`` is an expected one."""
    if expected.read == "whole":
        return _judged([answer_part.strip()] if answer_part.strip() else [], expected, whole=True)
    marked = [] if expected.read == "first-line" else [claim.text for claim in claims(answer_part)]
    if not marked and expected.read != "marker":
        first_line = answer_part.lstrip().partition("\n")[0].rstrip()
        marked = [first_line] if first_line else []
    return _judged(marked, expected, whole=False)


def _judged(read: list[str], expected: Expected, *, whole: bool) -> Verdict:
    """The verdict on the first text; the others only tell whether the model ran on."""
    if not read:
        return Verdict(WRONG, Reason.NO_ANSWER.value, None)
    if len(read[0]) > LONGEST_ANSWER:
        return Verdict(WRONG, Reason.TOO_LONG.value, read[0][:LONGEST_FOUND])
    answer = normal(read[0], expected.rule)
    right = answer in expected.answers or (not whole and _first_sentence(read[0], expected) in expected.answers)
    reason = Reason.EQUAL.value if right else Reason.DIFFERENT.value
    if len(read) > 1 and any([normal(other, expected.rule) != answer for other in read[1:]]):
        reason += RUN_ON
    return Verdict(RIGHT if right else WRONG, reason, read[0][:LONGEST_FOUND])


def _first_sentence(line: str, expected: Expected) -> str:
    """The line's first sentence, normalised; nothing where the line is one sentence."""
    stop = _SENTENCE.search(line)
    return normal(line[: stop.start()], expected.rule) if stop else ""
