r"""LaTeX that surrounds numbers, taken off; fractions written plainly. Not a LaTeX parser and not meant to be one.

>>> plain(r"\(\dfrac{2}{7}\)"), plain(r"\$1{,}234.50"), plain(r"\frac{\frac{1}{2}}{3}"), plain(r"2\sqrt{3}")
(' 2/7 ', '$1,234.50', '1/6', '2√3')

Fractions are worked out from the innermost, at most ``DEEPEST`` times, and only where both parts are plain numerals; a
command that isn't known stays, and a numeral beside it can't be read.
"""

from __future__ import annotations

import re
from fractions import Fraction

DEEPEST = 6

_NUMERAL = r"[-+]?[0-9]{1,40}(?:\.[0-9]{1,40})?"
_PART = rf"\{{[ ]*({_NUMERAL}(?:/{_NUMERAL})?)[ ]*\}}"
_FRACTION = re.compile(rf"\\[cdt]?frac[ ]*(?:{_PART}[ ]*{_PART}|([0-9])[ ]*([0-9]))")
_WRAPPER = re.compile(r"\\(?:text(?:bf|it|rm)?|math(?:rm|bf|it|sf)|mbox|bf|rm|boldsymbol|bm)(?![A-Za-z])[ ]*")
_NOTHING = re.compile(r"\\(?:left|right|displaystyle|boxed|fbox|[!;:\[\]() ]|quad|qquad)(?![A-Za-z])|\\[!;:\[\]()]")
_SIGNS = {
    r"\times": "*", r"\cdot": "*", r"\ast": "*", r"\div": "÷", r"\pm": "±", r"\approx": "≈", r"\sqrt": "√", r"\pi": "π",
    r"\$": "$", r"\%": "%", r"\,": "\u2009", r"\&": "&", r"\#": "#", r"\_": "_", r"\{": "{", r"\}": "}", r"\\": "\n",
    r"\circ": "°", r"\degree": "°", r"\euro": "€", r"\pounds": "£", r"\ldots": "…", r"\dots": "…",
}  # fmt: skip
_SIGN = re.compile(r"\\(?:[A-Za-z]+|[^A-Za-z])")


def plain(text: str) -> str:
    """``text`` without LaTeX around its numbers."""
    if "\\" not in text and "{" not in text:
        return text
    text = text.replace("{,}", ",").replace(r"^\circ", "°").replace(r"^{\circ}", "°")
    text = _WRAPPER.sub("", _NOTHING.sub(" ", text))
    for _ in range(DEEPEST):
        text, made = _FRACTION.subn(_divided, _bare(text))
        if not made:
            break
    return _SIGN.sub(lambda sign: _SIGNS.get(sign.group(), sign.group()), text)


_BARE = re.compile(r"(?<!frac)(?<!\})\{[ ]*([-+]?[0-9./]{1,80})[ ]*\}(?![ ]*\{)")


def _bare(text: str) -> str:
    """Braces around a single numeral that are no part of a fraction, taken off: ``{{2}}`` is 2."""
    return _BARE.sub(r"\1", text)


def _divided(match: re.Match[str]) -> str:
    """A fraction as "2/7". Where the lower part is nought it stays what it was, which nobody can read."""
    above, below = (match[1], match[2]) if match[1] else (match[3], match[4])
    if "/" not in above + below and "." not in above + below and below[0] not in "-+":
        mixed = match.start() > 0 and match.string[match.start() - 1].isdigit()
        return f" {above}/{below}" if mixed else f"{above}/{below}"
    upper, lower = _fraction(above), _fraction(below)
    if upper is None or not lower:
        return match.group()
    value = upper / lower
    return f"{value.numerator}/{value.denominator}"


def _fraction(numeral: str) -> Fraction | None:
    above, _, below = numeral.partition("/")
    lower = Fraction(below or 1)
    return Fraction(above) / lower if lower else None
