"""One spelling for numbers in any script: digits, signs and separators become ASCII by their Unicode category.

>>> fold("−２．７５"), fold("٣٫٥"), fold("10²"), fold("3½"), fold("1\\u202f234")
('-2.75', '3.5', '10^2', '3 1/2', '1\\u2009234')

Decimal digits (category Nd) become 0 to 9, dashes (Pd) and U+2212 a hyphen, spaces (Zs) a space, full-width forms
their plain ones. Raised digits become a power, so that 10² is never read as 102. Spaces that typographers put between
thousands become U+2009, the one such space that a numeral may hold. Format characters (Cf: zero-width, direction marks,
soft hyphen) go; control characters become spaces, so that a NUL joins nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

THIN_SPACE = "\u2009"

_SPECIAL = {
    "\u2212": "-", "×": "*", "·": "*", "⋅": "*", "∙": "*", "⁄": "/", "∕": "/", "＝": "=", "﹦": "=", "≃": "≈",
    "，": ",", "٬": ",", "、": ", ", "．": ".", "٫": ".", "。": ". ", "｡": ". ",
    "：": ":", "；": ";", "％": "%", "﹪": "%", "٪": "%",
    "\u00a0": THIN_SPACE, "\u202f": THIN_SPACE, "\u2007": THIN_SPACE, "\u2009": THIN_SPACE, "’": "'", "＇": "'",
    "\n": "\n", "\t": " ", "\u2028": "\n", "\u2029": "\n",
}  # fmt: skip
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_FULL_WIDTH = range(0xFF01, 0xFF5F)


def fold(text: str) -> str:
    """``text`` with numbers spelled one way. Letters and everything else stay."""
    if text.isascii() and not _CONTROL.search(text):
        return text
    return text.translate(_TABLE)


class Lazy(dict[int, str | None]):
    """A table for ``str.translate``: each character's replacement is worked out when it is first met, and kept.

    What is kept is bounded, so that a text with every character there is does not stay in memory.
    """

    MOST = 8192

    def __init__(self, replacement: Callable[[str], str | None]) -> None:
        super().__init__()
        self._replacement = replacement

    def __missing__(self, code: int) -> str | None:
        replaced = self._replacement(chr(code))
        if len(self) < self.MOST:
            self[code] = replaced
        return replaced


def _fold_character(character: str) -> str:
    if character in _SPECIAL:
        return _SPECIAL[character]
    category = unicodedata.category(character)
    if category == "Nd":
        return str(unicodedata.decimal(character))
    if category in _BY_CATEGORY:
        return _BY_CATEGORY[category]
    if ord(character) in _FULL_WIDTH:
        return chr(ord(character) - 0xFEE0)
    return _compatible(character) if category == "No" else character


_BY_CATEGORY = {"Pd": "-", "Zs": " ", "Cf": "", "Cc": " "}


def _compatible(character: str) -> str:
    """A raised digit as a power, a vulgar fraction as a fraction after a space; other number signs stay."""
    kind, *codes = unicodedata.decomposition(character).split() or [""]
    plain = "".join([chr(int(code, 16)) for code in codes])
    if kind == "<super>" and plain.isdigit():
        return f"^{plain}"
    if kind == "<fraction>":
        return " " + plain.replace("⁄", "/")
    return character


_TABLE = Lazy(_fold_character)
