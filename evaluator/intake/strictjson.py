"""JSON as we take it: UTF-8 without a byte-order mark, each key once, finite numbers of bounded length, bounded depth.

Loaders differ in what they do with a repeated key, NaN or a lone surrogate. What two readers may read in two ways is
refused, with the line where the reader can be sure of it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any

from evaluator.errors import Refused

DIGITS = 40
"""Tokenizer configurations in the wild hold 10**30 for "no limit"; nothing needs more."""
DEPTH = 32

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]', re.DOTALL)
_LOCATE_UP_TO = 4 * 1024 * 1024


class _Bad(ValueError):
    """Raised inside the parser's hooks; never leaves this module."""

    def __init__(self, code: str, problem: str, remedy: str, key: str | None = None) -> None:
        super().__init__(problem)
        self.code, self.problem, self.remedy, self.key = code, problem, remedy, key


def parse_object(data: bytes, where: str, depth: int = DEPTH) -> dict[str, Any]:
    """The JSON object in ``data``. Raises ``Refused`` naming ``where`` and, if known, the line."""
    value = parse(data, where, depth)
    if not isinstance(value, dict):
        raise Refused.one(
            "json-not-object", where, f"The file holds a {_kind(value)}; it must hold one object.", "Export it again."
        )
    return value


def parse(data: bytes, where: str, depth: int = DEPTH) -> Any:
    text = _text(data, where)
    try:
        value = json.loads(
            text, object_pairs_hook=_object, parse_int=_integer, parse_float=_real, parse_constant=_constant
        )
    except json.JSONDecodeError as error:
        place = f"{where}: line {error.lineno}, column {error.colno}"
        raise Refused.one(
            "json-syntax", place, f"This is not valid JSON: {error.msg}.", "Correct it or export it again."
        ) from None
    except RecursionError:
        raise _too_deep(where, depth) from None
    except _Bad as bad:
        place = where if bad.key is None else _place_of_second(text, where, bad.key)
        raise Refused.one(bad.code, place, bad.problem, bad.remedy) from None
    if _deeper(value, depth):
        raise _too_deep(where, depth)
    if _SURROGATE.search(data):
        _refuse_lone_surrogates(value, where)
    return value


def line_of(text: str, literal: str) -> str:
    """``": line 12"`` for the first place where ``literal`` stands as a JSON string, else nothing."""
    at = text.find(json.dumps(literal, ensure_ascii=False))
    return f": line {text.count(chr(10), 0, at) + 1}" if at >= 0 else ""


def walk(value: Any, path: str = "") -> Iterator[tuple[str, str | None, Any]]:
    """Every value at any depth with its path and, inside objects, its key. Needs no recursion."""
    stack: list[tuple[str, str | None, Any]] = [(path, None, value)]
    while stack:
        here, key, item = stack.pop()
        yield here, key, item
        if isinstance(item, dict):
            stack.extend((f"{here}.{name}" if here else name, name, child) for name, child in reversed(item.items()))
        elif isinstance(item, list):
            stack.extend((f"{here}[{number}]", None, child) for number, child in reversed(list(enumerate(item))))


def _text(data: bytes, where: str) -> str:
    if data.startswith(b"\xef\xbb\xbf"):
        raise Refused.one("json-bom", where, "The file begins with a byte-order mark.", "Save it as UTF-8 without BOM.")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Refused.one(
            "json-encoding", f"{where}: line {line}", "The text is not UTF-8.", "Save the file as UTF-8."
        ) from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        key = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise _Bad("json-duplicate-key", f"The key {_short(key)} stands twice in one object.", "Keep one of them.", key)
    return made


def _integer(digits: str) -> int:
    if len(digits) > DIGITS:
        raise _Bad("json-number", f"An integer of {len(digits)} digits is out of range.", "Write a smaller number.")
    return int(digits)


def _real(digits: str) -> float:
    number = float(digits) if len(digits) <= 400 else math.inf
    if not math.isfinite(number):
        raise _Bad("json-number", f"The number {digits[:20]} is out of range.", "Write a finite number.")
    return number


def _constant(name: str) -> float:
    raise _Bad("json-number", f"{name} is not a number that JSON knows.", "Write a finite number or null.")


def _place_of_second(text: str, where: str, key: str) -> str:
    """The line of the second ``key`` of one object. Slow, so only for files of usual size and only after a failure."""
    if len(text) > _LOCATE_UP_TO:
        return where
    stack: list[set[str]] = []
    last, tokens = "", _TOKEN.finditer(text)
    for token in tokens:
        mark = token[0]
        if mark == "{":
            stack.append(set())
        elif mark == "}" and stack:
            stack.pop()
        elif mark == ":" and stack and last:
            name = json.loads(last, strict=False)
            if name == key and name in stack[-1]:
                return f"{where}: line {text.count(chr(10), 0, token.start()) + 1}"
            stack[-1].add(name)
        last = mark if mark.startswith('"') else ""
    return where


def _deeper(value: Any, depth: int) -> bool:
    level = [value]
    for _ in range(depth):
        level = [child for item in level if isinstance(item, dict | list) for child in _children(item)]
        if not level:
            return False
    return any(isinstance(item, dict | list) for item in level)


def _children(item: dict[str, Any] | list[Any]) -> Iterator[Any]:
    return iter(item.values() if isinstance(item, dict) else item)


def _refuse_lone_surrogates(value: Any, where: str) -> None:
    for path, key, item in walk(value):
        for text in (key, item):
            if isinstance(text, str) and not _encodes(text):
                raise Refused.one(
                    "json-surrogate",
                    f"{where}: at {path.encode('ascii', 'backslashreplace').decode()[:120]}",
                    "The text holds half of a surrogate pair, which no UTF-8 text can hold.",
                    "Write the whole character or remove it.",
                )


def _encodes(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _too_deep(where: str, depth: int) -> Refused:
    return Refused.one("json-depth", where, f"Values are nested more than {depth} levels deep.", "Flatten the file.")


def _kind(value: Any) -> str:
    return {list: "list", str: "text", bool: "boolean", type(None): "null"}.get(type(value), "number")


def _short(key: str) -> str:
    return ascii(key if len(key) <= 60 else key[:60] + "...")
