r"""Numbers in running text, each with an exact value or none. Nothing is ever evaluated.

A *numeral* is digits with an optional decimal part, optional groups of thousands (comma, apostrophe, low line or thin
space between groups of three; Indian groups of two) and an optional exponent. Numerals joined by operators are one
*number*. Such a number has a value only in four forms, read from its last equals sign on:

    a        a/b       a b/c (mixed)       a * 10^n, 10^n

>>> [str(number.value) for number in numbers("3 + 4 = 7, then 1,234.5 and 2/7, not 9**9**9")]
['7', '2469/2', '2/7', 'None']

Anything else that is joined ("9**9**9", "5-6", "2x + 3", "x^2", "1.2.3") is a number that can't be read, because to
read it would be to guess. Digits within words (B2, GPT-4, x1) are no numbers. All values are exact fractions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

LONGEST_NUMERAL = 400
LARGEST_EXPONENT = 400
LONGEST_JOINT = 60
MOST_PARTS = 3
"""No readable form has more numerals than this."""

# Each alternative begins with a digit or a point, ends at a border and holds only possessive repetitions.
_NUMERAL = re.compile(
    r"(?<![0-9A-Za-z_À-ʯΑ-ԯ])(?<![A-Za-zÀ-ʯΑ-ԯ]-)"
    r"(?P<whole>[0-9]{1,3}(?:[,'_\u2009][0-9]{3})++(?![0-9])|[0-9]{1,2}(?:,[0-9]{2}(?=,))++,[0-9]{3}(?![0-9])|[0-9]++|(?=\.[0-9]))"
    r"(?P<decimals>\.[0-9]++)?"
    r"(?P<exponent>[eE][-+]?[0-9]++(?![A-Za-z]))?"
)
_SEPARATORS = str.maketrans("", "", ",'_\u2009")
_TRANSPARENT = " $€£¥₹₽₩`\"'“”„«»()[]{}\u2009"
_STRIPPED = str.maketrans("", "", _TRANSPARENT)
_JOINT = re.compile(r"(?:[^\W\d_]|[%°])*+(?P<operator>\*\*|[-+*/^=:≈±÷<>,.'])(?P<sign>[-+]?)")
_WORD_WITH_DIGITS = re.compile(r"[A-Za-z]{1,3}[0-9]")
_EMPHASIS = re.compile(r"(?<!\d)\*\*+|\*\*+(?!\d)|(?<!\S)\*(?=\S)|(?<=\S)\*(?!\S)")
_MINUS = re.compile(r"\b(?:[Mm]inus|[Nn]egative)[ ]++(?=[$€£]?[.0-9])")
_BULLET = re.compile(r"^[ \t]*+[-*+•][ \t]++(?=\S)", re.MULTILINE)


class Number(NamedTuple):
    """``value`` is ``None`` where it can't be read. ``start`` and ``end`` bound it in the text, its sign left out."""

    value: Fraction | None
    start: int
    end: int


def tidy(text: str) -> str:
    """``text`` without bold marks, with "minus 7" as -7 and, if of several lines, without the dashes of lists."""
    if "\n" in text:
        text = _BULLET.sub("", text)
    if "inus" in text or "egative" in text:
        text = _MINUS.sub("-", text)
    return _EMPHASIS.sub("", text) if "*" in text else text


def numbers(text: str) -> Iterator[Number]:
    """The numbers of a folded, tidy text in their order."""
    parts: list[re.Match[str]] = []
    joints: list[str] = []
    for numeral in _NUMERAL.finditer(text):
        joint = _joint(text[parts[-1].end() : numeral.start()][: LONGEST_JOINT + 1]) if parts else ""
        if parts and not joint:
            yield _number(text, parts, joints)
            parts, joints = [], []
        elif parts:
            joints.append(joint)
        parts.append(numeral)
    if parts:
        yield _number(text, parts, joints)


@lru_cache(maxsize=2048)
def _joint(between: str) -> str:
    """How two numerals hang together: an operator (with the sign of the second), or "" where they don't.

    A space alone joins ("3 1/2" is decided later), words with an operator at their end do ("5 km + 3 km").
    """
    if "\n" in between or len(between) > LONGEST_JOINT:
        return ""
    core = between.translate(_STRIPPED)
    if not core:
        return (" " if between == " " else "") if " " in between else "*"
    if core in {"x", "X"}:
        return "*"
    found = _JOINT.fullmatch(core)
    if not found or (found["operator"] in {",", ".", "'", ":"} and " " in between):
        return ""
    return found["operator"] + found["sign"]


def _number(text: str, parts: list[re.Match[str]], joints: list[str]) -> Number:
    """The number made of ``parts``. Two numerals with but a space between that make no mixed number can't be read."""
    start, end = parts[0].start(), parts[-1].end()
    sign = _sign_before(text, start)
    if sign is None or _goes_on(text, end):
        return Number(None, start, end)
    for position in reversed(range(len(joints))):
        if joints[position][0] in "=≈":
            sign = -1 if joints[position].endswith("-") else 1
            parts, joints = parts[position + 1 :], joints[position + 1 :]
            break
    value = _combined([_value(part) for part in parts], joints) if len(parts) <= MOST_PARTS else None
    return Number(-value if value is not None and sign < 0 else value, start, end)


def _value(numeral: re.Match[str]) -> Fraction | None:
    whole, decimals, exponent = numeral.group("whole", "decimals", "exponent")
    if len(whole) > LONGEST_NUMERAL or (decimals and len(decimals) > LONGEST_NUMERAL):
        return None
    digits = whole if whole.isdigit() else whole.translate(_SEPARATORS)
    if not decimals and not exponent:
        return Fraction(int(digits))
    shift = 0
    if exponent:
        if len(exponent) > 6 or abs(int(exponent[1:])) > LARGEST_EXPONENT:
            return None
        shift = int(exponent[1:])
    if decimals:
        digits, shift = digits + decimals[1:], shift - len(decimals) + 1
    return Fraction(int(digits) * 10**shift) if shift >= 0 else Fraction(int(digits), 10**-shift)


def _combined(values: list[Fraction | None], joints: list[str]) -> Fraction | None:
    """The value of one of the four readable forms, or ``None``."""
    if any([value is None for value in values]):
        return None
    first, *rest = [value for value in values if value is not None]
    value: Fraction | None = None
    match joints:
        case []:
            value = first
        case ["/"] if rest[0]:
            value = first / rest[0]
        case [" ", "/"] if first.denominator == 1 and rest[1]:
            value = first + rest[0] / rest[1]
        case ["^" | "**" | "^-" | "**-" | "^+" as operator]:
            value = _power_of_ten(Fraction(1), first, operator, rest[0])
        case ["*", "^" | "**" | "^-" | "**-" | "^+" as operator]:
            value = _power_of_ten(first, rest[0], operator, rest[1])
    return value


def _power_of_ten(factor: Fraction, base: Fraction, operator: str, exponent: Fraction) -> Fraction | None:
    if base != 10 or exponent.denominator != 1 or exponent > LARGEST_EXPONENT:
        return None
    power = Fraction(10 ** int(exponent))
    return factor / power if operator.endswith("-") else factor * power


def _sign_before(text: str, start: int) -> int | None:
    """1 or -1, or ``None`` where what stands before makes the numeral part of an expression."""
    position = start - 1
    while position >= 0 and start - position < 12 and text[position] in _TRANSPARENT:
        position -= 1
    if position < 0 or text[position] not in "-+*/^√±÷\\<>.":
        return 1
    mark = text[position]
    if mark == ".":
        return 1 if position + 1 < start else None
    if mark not in "-+":
        return None
    before = text[:position][-12:].rstrip(" ")
    detached = position > 0 and text[position - 1] == " " and text[position + 1] != " "
    if before and not detached and (before[-1].isalnum() or before[-1] in ")]}°π"):
        return None
    return -1 if mark == "-" else 1


def _goes_on(text: str, end: int) -> bool:
    """Whether what stands after makes the numeral part of an expression or of a word with more digits in it."""
    after = text[end : end + 8]
    if not after or after[0] in ".,;:!?\n":
        return False
    if after[0] in "^*√π\\²³_±÷" or _WORD_WITH_DIGITS.match(after):
        return True
    rest = after.lstrip(" )]}")
    return rest[:1] in {"+", "*", "^", "√", "π", "\\", "±", "÷"}
