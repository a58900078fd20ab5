"""When two short texts count as one: the normalisation that exact and choice share, with every step an option.

    unicode       "NFKC" (default), "NFC", "none"        compatibility forms; raised digits become "^2", not 2
    case          "ignore" (default), "keep"             full case folding
    punctuation   "ends" (default), "ignore", "keep"     quotes, bold marks and stops at the ends; or all of category P
    articles      "keep" (default), "ignore"             the English words a, an, the
    whitespace    "collapse" (default), "remove", "keep"

>>> normal("  **Ｐａｒｉｓ**. ")
'paris'
>>> normal("x²")
'x^2'

Zero-width and direction marks (category Cf) never count unless ``unicode`` is "none". The steps are repeated until
nothing changes, so that ``normal(normal(x)) == normal(x)``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import NamedTuple

from evaluator.checkers.folding import Lazy
from evaluator.records.shapes import Check, one_of

OPTIONS: Mapping[str, Check] = {
    "unicode": one_of("NFKC", "NFC", "none"),
    "case": one_of("ignore", "keep"),
    "punctuation": one_of("ends", "ignore", "keep"),
    "articles": one_of("keep", "ignore"),
    "whitespace": one_of("collapse", "remove", "keep"),
}

MOST_PASSES = 8
_BEFORE = "\"'`´*_“”‘’‚„«»‹›「」『』¿¡ \t\n"
_AFTER = _BEFORE + ".,;:!?…。、，；：！？"
_ARTICLE = re.compile(r"\b(?:a|an|the)\b", re.IGNORECASE)
_ASCII_PUNCTUATION = str.maketrans("", "", "!\"#%&'()*,-./:;?@[\\]_{}")


class Rule(NamedTuple):
    """The options of one item, defaults filled in."""

    unicode: str = "NFKC"
    case: str = "ignore"
    punctuation: str = "ends"
    articles: str = "keep"
    whitespace: str = "collapse"


DEFAULT = Rule()


def rule(options: Mapping[str, str]) -> Rule:
    return Rule(**{name: options[name] for name in OPTIONS if name in options})


def normal(text: str, rule: Rule = DEFAULT) -> str:
    """``text`` as it is compared. Works until nothing changes, at most ``MOST_PASSES`` times."""
    if text.isascii() and rule.articles == "keep" and rule.punctuation != "ignore":
        return _once(text, rule)  # nothing that one step leaves is changed by another then
    for _ in range(MOST_PASSES):
        before, text = text, _once(text, rule)
        if text == before:
            break
    return text


def _once(text: str, rule: Rule) -> str:
    if not text.isascii() and rule.unicode != "none":
        text = unicodedata.normalize(rule.unicode, text.translate(_MARKS[rule.unicode]))  # type: ignore[arg-type]
    if rule.case == "ignore":
        text = text.casefold()
    if rule.punctuation == "ignore":
        text = text.translate(_ASCII_PUNCTUATION if text.isascii() else _PUNCTUATION)
    if rule.articles == "ignore":
        text = _ARTICLE.sub(" ", text)
    if rule.whitespace != "keep":
        text = (" " if rule.whitespace == "collapse" else "").join(text.split())
    return text.lstrip(_BEFORE).rstrip(_AFTER) if rule.punctuation == "ends" else text


def _without_format(character: str) -> str | None:
    return None if unicodedata.category(character) == "Cf" else character


def _with_powers(character: str) -> str | None:
    """Without format characters, and raised digits as powers: NFKC alone would make 102 of 10²."""
    kind, *digits = unicodedata.decomposition(character).split() or [""]
    if kind == "<super>" and unicodedata.category(character) == "No":
        return "^" + "".join([chr(int(digit, 16)) for digit in digits])
    return _without_format(character)


def _without_punctuation(character: str) -> str | None:
    return None if unicodedata.category(character).startswith("P") else character


_MARKS = {"NFKC": Lazy(_with_powers), "NFC": Lazy(_without_format)}
_PUNCTUATION = Lazy(_without_punctuation)
