r"""Numbers, compared exactly: integers, decimals, thousands, fractions, percent, units, LaTeX, any script's digits.

Which number counts:

1. The first final marker (see ``marks``) whose claim holds a number that can be read. Within a claim it is the only
   number; or, where the claim begins with a number and words follow, that one ("18 dollars for 3 boxes"). A list
   ("5 or 6", "3, 4") is no answer. After ``####`` the number must follow at once. Where markers claim numbers but none
   that counts, nothing is guessed.
2. Where no marker claims a number, the only number of the text, however often it is written.
3. Several different numbers and no marker: nothing is guessed ("ambiguous"), unless the item says ``"rule": "last"``.

An equation counts as what stands after its last equals sign. Expressions are never worked out.

Options: ``rule`` "marker-or-only" (default) or "last"; ``tolerance`` and ``relative_tolerance`` as decimal text, both
0 by default, an answer being right within either; ``decimal_mark`` "point" (default) or "comma"; ``units``, the
spellings of the item's unit or percent sign; ``unit_rule`` "ignore" (default: units are not looked at), "required"
(the number must carry one of ``units``) or "ratio" (a number that carries one is a hundredth: 20% equals 0.2).

>>> expected = expect(["18"], {}, None)
>>> check("First 3 boxes, then 6 more. The answer is **$18.00**.", expected)
Verdict(score='1', reason='equal', found='18.00')
>>> check("She has 15 apples and 3 pears.", expected)
Verdict(score='0', reason='ambiguous', found=None)
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import islice
from typing import Any, NamedTuple

from evaluator.checkers.folding import fold
from evaluator.checkers.latex import plain
from evaluator.checkers.marks import Claim, claims
from evaluator.checkers.numerals import Number, numbers, tidy
from evaluator.checkers.reading import LONGEST
from evaluator.records.shapes import Check, decimal, list_of, one_of, text
from evaluator.records.verdicts import RIGHT, RUN_ON, WRONG, Reason, Verdict

OPTIONS: Mapping[str, Check] = {
    "rule": one_of("marker-or-only", "last"),
    "tolerance": decimal("0"),
    "relative_tolerance": decimal("0", "1"),
    "decimal_mark": one_of("point", "comma"),
    "units": list_of(text(40, 1), least=1, most=40),
    "unit_rule": one_of("ignore", "required", "ratio"),
}

_SWAPPED = str.maketrans(",.", ".,")
_NONE = Fraction(0)
_LEAD_IN = re.compile(
    r"[ \t$€£¥₹₽₩(\[{\"'`:=≈~+-]*+(?:(?:about|approximately|exactly|only|just|rp\.?|us)[ ]++)?[$€£¥₹₽₩(+-]*+",
    re.IGNORECASE,
)
_LISTED = re.compile(
    r"[ \t(]*+(?:[,;/|&]|\b(?:or|and|oder|und|atau|dan|ou|et|o|y|e|to|bis)\b|或|または|と|和)[ \t$€£¥(-]*+",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?;](?=\s|$)|\n")


class Reading(NamedTuple):
    """How to read numbers for one item."""

    last: bool
    comma: bool
    units: tuple[str, ...]
    unit_rule: str


class Expected(NamedTuple):
    """The parsed gold answers of one item with its rules."""

    values: tuple[Fraction, ...]
    tolerance: Fraction
    relative: Fraction
    reading: Reading


class Found(NamedTuple):
    """One reading of a text: the number that counts, or the reason why none does."""

    value: Fraction | None
    reason: str
    written: str | None
    run_on: bool = False


def expect(answers: Sequence[str], options: Mapping[str, Any], choices: Sequence[str] | None) -> Expected:  # noqa: ARG001
    """The parsed answers. Raises ``ValueError`` where one is no number by the item's own rule."""
    reading = Reading(
        options.get("rule") == "last",
        options.get("decimal_mark") == "comma",
        tuple([unit.casefold() for unit in options.get("units", ())]),
        options.get("unit_rule", "ignore"),
    )
    if reading.unit_rule != "ignore" and not reading.units:
        raise ValueError('can\'t be checked: "unit_rule" needs "units"')
    return Expected(
        tuple([_gold(answer, reading) for answer in answers]),
        Fraction(options["tolerance"]) if "tolerance" in options else _NONE,
        Fraction(options["relative_tolerance"]) if "relative_tolerance" in options else _NONE,
        reading,
    )


def check(answer_part: str, expected: Expected) -> Verdict:
    """Whether the number that counts in ``answer_part`` is an expected one."""
    found = find(answer_part, expected.reading)
    if found.value is None:
        return Verdict(WRONG, found.reason, found.written)
    right = any([_close(found.value, value, expected) for value in expected.values])
    reason = Reason.EQUAL.value if right else Reason.DIFFERENT.value
    return Verdict(RIGHT if right else WRONG, reason + RUN_ON if found.run_on else reason, found.written)


def find(answer_part: str, reading: Reading) -> Found:
    """The number that counts in a text, by the rule above."""
    folded = fold(answer_part)[:LONGEST]  # a vulgar fraction is four characters once it is folded
    if not reading.comma:
        return _marked(folded, reading) or _only(tidy(plain(folded)), reading)
    swapped = folded.translate(_SWAPPED)
    found = _marked(swapped, reading) or _only(tidy(plain(swapped)), reading)
    return found._replace(written=found.written and found.written.translate(_SWAPPED))


def _marked(folded: str, reading: Reading) -> Found | None:
    """The first claim that can be read; else why the first with a number in it can't; else nothing."""
    found = [reading_of for claim in claims(folded) if (reading_of := _claimed(claim, reading)) is not None]
    readable = [one for one in found if one.value is not None]
    if not readable:
        return found[0] if found else None
    first = readable[0]
    return first._replace(run_on=True) if any([one.value != first.value for one in readable]) else first


def _claimed(claim: Claim, reading: Reading) -> Found | None:
    written = tidy(plain(claim.text))
    few = list(islice(numbers(written), 20))
    if not few:
        return None
    if _LEAD_IN.match(written).end() >= few[0].start:  # type: ignore[union-attr]  # it matches the empty text too
        listed = len(few) > 1 and _LISTED.fullmatch(written, few[0].end, few[1].start)
        return Found(None, Reason.AMBIGUOUS.value, None) if listed else _found(written, few[0], reading)
    if claim.mark == "####":
        return None
    if claim.mark == "label":
        stop = _SENTENCE_END.search(written, few[0].end)
        few = [number for number in few if stop is None or number.start < stop.start()]
    return _agreed(written, few, reading)


def _only(written: str, reading: Reading) -> Found:
    """The reading of a text without a marker: its only number, or its last where the item says so."""
    every = list(numbers(written))
    if not every:
        return Found(None, Reason.NO_ANSWER.value, None)
    return _found(written, every[-1], reading) if reading.last else _agreed(written, every, reading)


def _agreed(written: str, several: list[Number], reading: Reading) -> Found:
    if len({number.value for number in several}) == 1:
        return _found(written, several[0], reading)
    return Found(None, Reason.AMBIGUOUS.value, None)


def _found(written: str, number: Number, reading: Reading) -> Found:
    """The number with its unit rule applied."""
    shown = written[number.start : number.end][:200]
    if number.value is None:
        return Found(None, Reason.UNREADABLE.value, shown)
    value = number.value
    if reading.unit_rule != "ignore":
        has_unit = _has_unit(written, number, reading.units)
        if reading.unit_rule == "required" and not has_unit:
            return Found(None, Reason.UNIT_MISSING.value, shown)
        if reading.unit_rule == "ratio" and has_unit:
            value /= 100
    return Found(value, "", _signed(shown, value))


def _signed(shown: str, value: Fraction) -> str:
    return f"-{shown}"[:200] if value < 0 and "=" not in shown else shown


def _has_unit(written: str, number: Number, units: tuple[str, ...]) -> bool:
    """Whether one of ``units`` stands right after the number or, as with "$", right before it."""
    after = written[number.end : number.end + 60].lstrip(" )}").casefold()
    before = written[max(0, number.start - 60) : number.start].rstrip(" ({-").casefold()
    for unit in units:
        goes_on = after[len(unit) : len(unit) + 1]
        if after.startswith(unit) and not (unit[-1].isalpha() and goes_on.isalpha()):
            return True
        if before.endswith(unit):
            return True
    return False


def _close(value: Fraction, gold: Fraction, expected: Expected) -> bool:
    if value == gold:
        return True
    difference = abs(value - gold)
    return difference <= expected.tolerance or difference <= expected.relative * abs(gold)


def _gold(answer: str, reading: Reading) -> Fraction:
    """The value of a gold answer, which must be one number and nothing but its unit."""
    folded = fold(answer).translate(_SWAPPED) if reading.comma else fold(answer)
    written = tidy(plain(folded))
    every = list(numbers(written))
    if len(every) != 1 or every[0].value is None:
        raise ValueError("is not one number that can be read")
    number = every[0]
    rest = (written[: number.start] + " " + written[number.end :]).strip(" $€£¥()[]{}+-.")
    if rest and not reading.units:
        raise ValueError(f'holds "{rest[:20]}" beside its number: name the unit in "units" and say its "unit_rule"')
    found = _found(written, number, reading)
    if found.value is None:
        raise ValueError('lacks the unit that "unit_rule" asks for')
    return found.value
