"""One of several options, by its letter or its text. Two different ones are never guessed between.

1. The first final marker (see ``marks``) whose claim names an option: "Answer: C", "the answer is (b)", "Antwort: C".
2. Without one: a first line that is nothing but an option ("C", "**C**", "C) Paris", "Paris"), unless other lines
   list other options; else the one option that the text names ("I would go with option c").

An option is named by its letter standing alone, in this order: at the start of the claim, in brackets or after a word
such as "option", as a capital within the claim's sentence; and only where no letter stands, by its text. The A of
"Answer" is part of a word and never counts; "a" and "I" before a word are English ("A dog"), unless a word such as
"because" follows. "Not B" does not name B. A letter with the text of another option contradicts itself.

Gold answers are letters (A is the first option) or the very text of an option. There are no checker options.

>>> expected = expect(["C"], {}, ["Rome", "Oslo", "Paris"])
>>> check("Answer: **C**", expected)
Verdict(score='1', reason='equal', found='C')
>>> check("It is either A or C.", expected)
Verdict(score='0', reason='ambiguous', found=None)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from evaluator.checkers.folding import fold
from evaluator.checkers.latex import plain
from evaluator.checkers.marks import LABELS, claims
from evaluator.checkers.normal import normal
from evaluator.checkers.reading import LONGEST
from evaluator.records.shapes import Check
from evaluator.records.verdicts import RIGHT, RUN_ON, WRONG, Reason, Verdict

OPTIONS: Mapping[str, Check] = {}

LONGEST_COMPARED = 2_000
"""Option texts are looked for in this many characters. Letters are looked for in all that is read."""
MOST_NAMED = 500

_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_OPTION_WORDS = (
    "option", "choice", "opsi", "pilihan", "opción", "opcion", "opção", "auswahl", "möglichkeit", "variante",
    "選択肢", "选项", *LABELS,
)  # fmt: skip
_WORD = "|".join(sorted(map(re.escape, _OPTION_WORDS), key=len, reverse=True))
_ALONE = r"(?![A-Za-z0-9_À-ʯ'’])"
_LETTER = rf"(?<![A-Za-z0-9_À-ʯ'’])(?P<letter>[A-Za-z]){_ALONE}"
_START = re.compile(
    rf"[\s(\[{{\"':]*+(?P<word>(?:{_WORD})[\s:(\[]*+)?{_LETTER}(?P<closed>[ ]?[)\]}}.:])?", re.IGNORECASE
)
_LISTED = re.compile(
    rf"[\s)\]]*+(?:[,;/|&]|(?:or|and|oder|und|atau|dan|ou|et|o|y)\b|または|と|或|和)[\s(\[]*+(?P<letter>[A-Z]){_ALONE}"
)
_BRACKETED = re.compile(r"[(\[][ ]?(?P<letter>[A-Za-z])[ ]?[)\]]|^[ \t]*+(?P<line>[A-Z])[).](?=[ \t])", re.MULTILINE)
_NAMED = re.compile(rf"(?:{_WORD})[ \t:]*+[(\[]?{_LETTER}", re.IGNORECASE)
_CAPITAL = re.compile(_LETTER.replace("[A-Za-z]", "[A-Z]", 1))
_LINE_LABEL = re.compile(r"^[ \t]*+[(\[]?(?P<letter>[A-Z])[)\].:](?=[ \t])", re.MULTILINE)
_ENGLISH = re.compile(r"[ ]+(?!(?:because|since|as|is|was|and|or|which|for|with|but|due)\b)[^\W\d_]", re.IGNORECASE)
_NEGATED = re.compile(
    r"(?:\b(?:not|nicht|kein|bukan|never|no)|n't)[ ]++(?:(?:the|option|choice|opsi)[ ]++)*+[(\[]?$", re.IGNORECASE
)
_SENTENCE_END = re.compile(r"[!?;](?=\s|$)|(?<![^\w][A-Z])\.(?=\s|$)|。|\n")
_MARKS = str.maketrans("", "", "*`")


class Expected(NamedTuple):
    """The letters that are right and the options' normalised texts, the first being A's."""

    letters: frozenset[str]
    texts: tuple[str, ...]


_SEVERAL = "?"
"""Stands for the letter where different options were named."""


def expect(answers: Sequence[str], options: Mapping[str, Any], choices: Sequence[str] | None) -> Expected:  # noqa: ARG001
    """The parsed answers. Raises ``ValueError`` where one is no option or the options can't be told apart."""
    texts = tuple([_normal(choice) for choice in choices or ()])
    if not 2 <= len(texts) <= len(_ALPHABET):
        raise ValueError(f'needs 2 to {len(_ALPHABET)} "choices"')
    if len(set(texts)) < len(texts) or "" in texts:
        raise ValueError('has "choices" that are empty or the same after normalisation')
    return Expected(frozenset([_gold(answer, texts) for answer in answers]), texts)


def check(answer_part: str, expected: Expected) -> Verdict:
    """Whether the option that ``answer_part`` names is an expected one."""
    text = fold(answer_part)[:LONGEST].translate(_MARKS)
    named = [letter for claim in claims(text) if (letter := _claimed(plain(claim.text), expected))]
    letters = [letter for letter in named if letter != _SEVERAL]
    run_on = any([letter != letters[0] for letter in letters])
    answer = (letters or named)[0] if named else _unmarked(text, expected)
    if answer is None or answer == _SEVERAL:
        return Verdict(WRONG, (Reason.AMBIGUOUS if answer else Reason.NO_ANSWER).value, None)
    right = answer in expected.letters
    reason = Reason.EQUAL.value if right else Reason.DIFFERENT.value
    return Verdict(RIGHT if right else WRONG, reason + RUN_ON if run_on else reason, answer)


def _normal(text: str) -> str:
    return normal(fold(text[:LONGEST_COMPARED]))


def _gold(answer: str, texts: tuple[str, ...]) -> str:
    by_letter = answer.strip() if answer.strip() in _ALPHABET[: len(texts)] else ""
    text = _normal(answer)
    by_text = _ALPHABET[texts.index(text)] if text in texts else ""
    if by_letter and by_text and by_letter != by_text:
        raise ValueError("is the letter of one option and the text of another")
    if not by_letter and not by_text:
        raise ValueError(f'is neither a letter from A to {_ALPHABET[len(texts) - 1]} nor the text of one of "choices"')
    return by_letter or by_text


def _claimed(claim: str, expected: Expected) -> str | None:
    """The option that a claim names."""
    return _option_alone(claim, expected) or _at_the_start(claim, expected) or _in_sentence(claim, expected)


def _option_alone(text: str, expected: Expected) -> str | None:
    """The option whose text is the whole of ``text``."""
    if len(text) > LONGEST_COMPARED:
        return None
    whole = _normal(text)
    return _ALPHABET[expected.texts.index(whole)] if whole in expected.texts else None


def _at_the_start(claim: str, expected: Expected) -> str | None:
    """The letter that the claim begins with, unless others are listed with it or another option's text follows."""
    start = _START.match(claim)
    if not start:
        return None
    letter, end, rest = start["letter"], start.end("letter"), claim[start.end() :]
    decorated = start["word"] or start["closed"] or not rest.strip()
    if letter.islower() and not decorated:
        return None
    if not start["closed"] and _is_english(letter, claim, end):
        return None
    listed = _LISTED.match(claim, end)
    if listed and listed["letter"] != letter.upper() and not _is_english(listed["letter"], claim, listed.end()):
        return _SEVERAL
    other = _option_alone(rest, expected)
    return letter.upper() if other is None or other == letter.upper() else _SEVERAL


def _in_sentence(claim: str, expected: Expected) -> str | None:
    """What the claim's first sentence names."""
    stop = _SENTENCE_END.search(claim)
    return _named(claim[: stop.start()] if stop else claim, expected)


def _unmarked(text: str, expected: Expected) -> str | None:
    """What a text without a marker names."""
    text = plain(text).strip()
    line, _, rest = text.partition("\n")
    alone = _option_alone(line, expected) or _bare(line, expected)
    if alone and not any([label["letter"] != alone for label in _LINE_LABEL.finditer(rest)]):
        return alone
    return _named(text, expected)


def _bare(line: str, expected: Expected) -> str | None:
    """The letter of a line that is nothing but a letter, or a letter with its own option's text."""
    start = _START.match(line)
    if not start or len(line) > LONGEST_COMPARED:
        return None
    rest = line[start.end() :].strip(" .)]")
    letter = start["letter"].upper()
    return letter if not rest or _option_alone(rest, expected) == letter else None


def _named(text: str, expected: Expected) -> str | None:
    """The only option named by decorated letters; else by capitals; else by text. Two different ones are ambiguous."""
    for letters in (_decorated(text), _capitals(text, len(expected.texts)), _by_text(text, expected.texts)):
        distinct = set(letters)
        if distinct:
            return distinct.pop() if len(distinct) == 1 else _SEVERAL
    return None


def _decorated(text: str) -> Iterator[str]:
    for pattern in (_BRACKETED, _NAMED):
        for count, found in enumerate(pattern.finditer(text)):
            letter = found["letter"] or found["line"]
            end = found.end("letter")
            if count >= MOST_NAMED:
                return
            if pattern is _NAMED and _is_english(letter, text, end):
                continue
            if not _NEGATED.search(text[max(0, found.start() - 24) : found.start("letter")]):
                yield letter.upper()


def _capitals(text: str, options: int) -> Iterator[str]:
    for count, found in enumerate(_CAPITAL.finditer(text)):
        if count >= MOST_NAMED:
            return
        letter = found["letter"]
        negated = _NEGATED.search(text[max(0, found.start() - 24) : found.start()])
        if letter in _ALPHABET[:options] and not negated and not _is_english(letter, text, found.end()):
            yield letter


def _by_text(text: str, texts: tuple[str, ...]) -> Iterator[str]:
    """The options whose texts occur as whole words; a text within a longer option's text is not named by that one."""
    rest = _normal(text)
    for option in sorted(texts, key=len, reverse=True):
        if option in rest and _as_whole_words(rest, option):
            yield _ALPHABET[texts.index(option)]
            rest = rest.replace(option, "\ufffc")


def _as_whole_words(text: str, option: str) -> bool:
    """Whether ``option`` stands somewhere in ``text`` with no letter or digit at either side."""
    position = text.find(option)
    while position >= 0:
        before, after = text[:position][-1:], text[position + len(option) :][:1]
        if not option.isascii() or not (before.isalnum() or after.isalnum()):
            return True
        position = text.find(option, position + 1)
    return False


def _is_english(letter: str, text: str, end: int) -> bool:
    """Whether this is the article or the pronoun rather than a letter: "A dog", "I think"."""
    return letter in "AaI" and _ENGLISH.match(text, end) is not None
