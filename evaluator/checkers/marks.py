"""Final markers: how a model says "this is my answer", and what it claims after each.

A marker is ``####``, ``\\boxed{…}``, or a label ("answer", "result", and the same in other languages) with a colon, an
equals sign or a verb: "The answer is", "**Answer:**", "Antwort:", "Jawaban:", "答え：". The claim is the rest of the
line; after a marker that ends its line, the next line that isn't blank. The claim of a box is what its braces hold.

>>> [claim.text for claim in claims("So the answer is 7.\\n#### 8\\n\\\\boxed{\\\\frac{2}{7}}")]
['7.', '8', '\\\\frac{2}{7}']

Nothing here backtracks: each pattern is a list of words between possessive classes, the number of markers and the
length of a claim are capped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

MOST_MARKS = 30
LONGEST_CLAIM = 500

LABELS = (
    "answer", "result", "solution", "conclusion",
    "antwort", "ergebnis", "lösung", "jawaban", "hasil", "jawapan",
    "respuesta", "resultado", "réponse", "résultat", "risposta", "risultato", "resposta",
    "antwoord", "svar", "odpowiedź", "odpověď", "vastaus", "cevap", "ответ", "відповідь", "απάντηση",
    "答え", "解答", "回答", "正解", "答案", "結果", "结果", "정답", "답", "đáp án", "คำตอบ", "उत्तर",
    "الإجابة", "الجواب", "תשובה",
)  # fmt: skip
VERBS = (
    "is", "are", "was", "would be", "will be", "should be", "must be", "equals",
    "ist", "lautet", "adalah", "ialah", "yaitu", "es", "est", "è", "é", "är",
    "は", "是", "为", "為", "은", "는", "là", "คือ", "है", "هي", "هو",
)  # fmt: skip

_DECORATION = r"[ \t*_`]*+"


def _says(label: str) -> re.Pattern[str]:
    """The label followed by what makes it a marker. It starts with a literal, so a search for it is quick."""
    longest_first = sorted(VERBS, key=len, reverse=True)
    verbs = "|".join([word + (r"(?![^\W\d_])" if word.isascii() else "") for word in longest_first])
    connection = rf"(?:{verbs}){_DECORATION}[:：]?|[:：=]|[-–—](?=[ \t])|$"
    return re.compile(re.escape(label) + _DECORATION + f"(?:{connection})", re.MULTILINE)


_MARKERS = {
    "####": re.compile("####+"),
    "boxed": re.compile(r"\\boxed[ \t]*+\{"),
    "fbox": re.compile(r"\\fbox[ \t]*+\{"),
    **{label: _says(label) for label in LABELS},
}
_ASCII_MARKERS = {word: pattern for word, pattern in _MARKERS.items() if word.isascii()}
_BRACE = re.compile(r"\\?[{}]")
_BLANK = re.compile(r"[\s*_`:：]*+")


class Claim(NamedTuple):
    """What stands after a marker. ``mark`` is "####", "box" or "label"; ``end`` is where the claim's line goes on."""

    text: str
    mark: str


def claims(text: str) -> Iterator[Claim]:
    """The claims in ``text`` in the order of their markers. Blank ones are left out."""
    for start, end, word in _marks(text):
        if word in {"boxed", "fbox"}:
            claim = Claim(_braced(text, end), "box")
        else:
            claim = Claim(_line(text, end), "####" if word == "####" else "label")
        if claim.text and not _within_a_word(text, start, word):
            yield claim


def _marks(text: str) -> list[tuple[int, int, str]]:
    """Start, end and word of the first markers. A plain search for the words comes first: most texts hold none."""
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = text  # a few capitals have longer small letters; positions must stay true
    markers = _ASCII_MARKERS if text.isascii() else _MARKERS
    found = [
        (mark.start(), mark.end(), word)
        for word, pattern in markers.items() if word in lowered
        for mark in islice(pattern.finditer(lowered), MOST_MARKS)
    ]  # fmt: skip
    return sorted(found)[:MOST_MARKS]


def _within_a_word(text: str, start: int, word: str) -> bool:
    """Whether a Latin label is the tail of a longer word. Scripts without capitals put no space between words."""
    return start > 0 and word[0].upper() != word[0] and text[start - 1].isalpha()


def _braced(text: str, start: int) -> str:
    """What stands before the brace that closes the one before ``start``; nothing where that one is missing."""
    depth = 1
    for brace in _BRACE.finditer(text, start, start + LONGEST_CLAIM):
        depth += {"{": 1, "}": -1}.get(brace.group(), 0)
        if depth == 0:
            return text[start : brace.start()].strip()
    return ""


def _line(text: str, start: int) -> str:
    """The rest of the line, or else the next line that isn't blank, without the marks around it."""
    blank = _BLANK.match(text, start)
    start = blank.end() if blank else start
    end = text.find("\n", start, start + LONGEST_CLAIM)
    return text[start : end if end >= 0 else start + LONGEST_CLAIM].rstrip(" \t*_`")
