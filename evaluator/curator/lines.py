"""From the bytes of a task file to JSON objects, one a line. Streams; never holds more than one line.

1. A byte-order mark at the start is dropped, a carriage return before the line feed too. The digest of the original
   bytes and the digest of the normalised form (UTF-8, no mark, one record and one line feed a line, no blank lines)
   are both kept: the same items from Windows and from Linux have the same second digest.
2. Only a line feed ends a line. U+2028, U+0085 and the like stay inside a text.
3. A line longer than ``LONGEST_LINE`` ends the reading; its rest is never read.
4. A line is UTF-8, then JSON as RFC 8259 has it and no more: no NaN, no key twice, no number that JSON can't carry
   exactly, no lone surrogate, no NUL, no nesting deeper than ``DEEPEST``.

Each mistake is a finding with line and column; the line is then left out and the reading goes on. Messages never
quote a value, for it may be hidden text.
"""

from __future__ import annotations

import codecs
import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO, NamedTuple, NoReturn

from evaluator.curator import positions
from evaluator.errors import Finding

LONGEST_LINE = 1 << 20
"""Bytes of one line at most, its ending left out."""

DEEPEST = 16

_BLANK = b" \t\r\n"
_LARGEST = 2**53 - 1
_NOT_JSON = re.compile(r"-?(?:NaN|Infinity)")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_OTHER_ENCODINGS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def shown(name: str) -> str:
    """A key as messages may show it: escaped and short. Keys come from outside, but hide nothing."""
    escaped = name.encode("unicode_escape").decode("ascii").replace('"', r"\"")
    return escaped if len(escaped) <= 40 else f"{escaped[:37]}..."


class Line(NamedTuple):
    """One record: its line number from 1, its text and the object in it."""

    number: int
    text: str
    value: dict[str, Any]


@dataclass
class Source:
    """One task file while it is read: its name for messages, the two digests so far, what was noted."""

    name: str
    original: Any = field(default_factory=hashlib.sha256)
    normalised: Any = field(default_factory=hashlib.sha256)
    marked: bool = False
    carriage_returns: int = 0

    def where(self, number: int, column: int = 1) -> str:
        return f"{self.name}, line {number}, column {column}"


class _Mistake(ValueError):
    """A line that is no record. ``column`` finds the place in the line once it is needed."""

    def __init__(self, code: str, problem: str, remedy: str, column: Callable[[str], int] | int = 1) -> None:
        self.code, self.problem, self.remedy, self.column = code, problem, remedy, column
        super().__init__(problem)

    def at(self, source: Source, number: int, text: str) -> Finding:
        column = self.column if isinstance(self.column, int) else self.column(text)
        return Finding(f"items.{self.code}", source.where(number, column), self.problem, self.remedy)


def read(stream: BinaryIO, source: Source) -> Iterator[Line | Finding]:
    """Each record of ``stream``, or what is wrong with its line."""
    for number, data in _lines(stream, source):
        if isinstance(data, _Mistake):
            yield data.at(source, number, "")
            return
        text = ""
        try:
            text = _decoded(data)
            yield Line(number, text, _parsed(text))
        except _Mistake as mistake:
            yield mistake.at(source, number, text)


def _lines(stream: BinaryIO, source: Source) -> Iterator[tuple[int, bytes | _Mistake]]:
    """The lines that aren't blank. A mistake is the last that comes."""
    number = 0
    while data := stream.readline(LONGEST_LINE + 2):
        number += 1
        source.original.update(data)
        if number == 1:
            if data.startswith(_OTHER_ENCODINGS):
                yield 1, _Mistake("utf8", "The file is UTF-16, not UTF-8.", "Save it as UTF-8.")
                return
            source.marked = data.startswith(codecs.BOM_UTF8)
            data = data.removeprefix(codecs.BOM_UTF8)
        ended = data.removesuffix(b"\n")
        record = ended.rstrip(b"\r")
        if len(record) > LONGEST_LINE or (len(data) == LONGEST_LINE + 2 and ended == data):
            yield number, _Mistake(
                "line-too-long", f"The line is longer than {LONGEST_LINE} bytes; nothing after it was read.",
                "Write one item a line, each ended by a line feed.",
            )  # fmt: skip
            return
        source.carriage_returns += len(record) < len(ended)
        if record.strip(_BLANK):
            source.normalised.update(record + b"\n")
            yield number, record


def _decoded(data: bytes) -> str:
    if b"\0" in data:
        raise _Mistake("nul", "The line holds a NUL byte.", "Remove it; save the file as UTF-8.", data.index(b"\0") + 1)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = len(data[: error.start].decode("utf-8", "replace"))
        problem = f"Byte {error.start + 1} of the line (0x{data[error.start]:02x}) is not UTF-8."
        raise _Mistake("utf8", problem, "Save the file as UTF-8.", before + 1) from None


def _parsed(text: str) -> dict[str, Any]:
    if text.count("{") + text.count("[") > DEEPEST and positions.depth(text) > DEEPEST:
        raise _Mistake("too-deep", f"Objects and lists stand more than {DEEPEST} deep in each other.", "Flatten them.")
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        problem = f"Not JSON: {error.msg}."
        raise _Mistake("json", problem, "Write one JSON object a line.", error.colno) from None
    if not isinstance(value, dict):
        raise _Mistake("object", "A record must be an object.", 'Write {"id": …, "kind": …, …}.')
    if "\\u" in text:
        _check_escapes(text)
    return value


def _check_escapes(text: str) -> None:
    """NUL and lone surrogates can stand in JSON only as escapes; a backslash before an escape makes it plain text."""
    for match in re.finditer(r"\\(?:u0000|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|.)", text):
        if match[0] == r"\u0000":
            raise _Mistake("nul", "The text holds a NUL character.", "Remove it.", match.start() + 1)
        if match[0] == r"\u" and _SURROGATE.match(text, match.start()):
            problem = "The text holds half a surrogate pair, which is no character."
            raise _Mistake("surrogate", problem, "Write the whole pair or the character itself.", match.start() + 1)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        problem = f'The key "{shown(twice)}" is there twice.'
        raise _Mistake("duplicate-key", problem, "Keep one of them.", positions.repeated_key)
    return made


def _constant(name: str) -> NoReturn:
    problem, remedy = f"{name} is no JSON value.", "Leave the field out, or write text."
    raise _Mistake("not-a-number", problem, remedy, lambda text: positions.token(text, _NOT_JSON))


def _integer(digits: str) -> int:
    if len(digits) > 17 or abs(int(digits)) > _LARGEST:
        raise _huge(digits)
    return int(digits)


def _float(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise _huge(digits)
    return value


def _huge(digits: str) -> _Mistake:
    written = re.compile(re.escape(digits))
    problem = "A number does not fit into JSON's exact range (2^53 - 1)."
    return _Mistake("huge-number", problem, "Write it as text, in quotes.", lambda text: positions.token(text, written))


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant, parse_int=_integer, parse_float=_float)
