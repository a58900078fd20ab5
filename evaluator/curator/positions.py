"""Columns for messages: where in a line of JSON the mistake stands. Only run once something is known to be wrong.

A column counts characters from 1, as editors do.

>>> key('{"id": "a", "kind": 1}', "kind")
13
>>> repeated_key('{"id": 1, "x": [{"y": 1}, {"y": 1, "y": 2}]}')
36
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|[{}\[\],:]|[^\s{}\[\],:"]++|"')
_OPENING, _CLOSING = "{[", "}]"


class Key(NamedTuple):
    """A key of an object. ``owner`` numbers the objects and arrays of the line in the order they open."""

    owner: int
    depth: int
    name: str
    column: int


def key(text: str, name: str) -> int:
    """The column of a key of the outermost object; 1 where it is not there."""
    return next((found.column for found in _keys(text) if found.depth == 1 and found.name == name), 1)


def repeated_key(text: str) -> int:
    """The column of the first key that its object has already."""
    seen: set[tuple[int, str]] = set()
    for found in _keys(text):
        if (found.owner, found.name) in seen:
            return found.column
        seen.add((found.owner, found.name))
    return 1


def token(text: str, pattern: re.Pattern[str]) -> int:
    """The column of the first value outside quotes that ``pattern`` matches whole; 1 where there is none."""
    return next((match.start() + 1 for match in _TOKEN.finditer(text) if pattern.fullmatch(match[0])), 1)


def depth(text: str) -> int:
    """How deep arrays and objects stand in each other at most."""
    deepest = now = 0
    for match in _TOKEN.finditer(text):
        now += (match[0] in _OPENING) - (match[0] in _CLOSING)
        deepest = max(deepest, now)
    return deepest


def _keys(text: str) -> Iterator[Key]:
    open_ones: list[int] = []
    opened = 0
    before = None
    for match in _TOKEN.finditer(text):
        part = match[0]
        if part in _OPENING:
            opened += 1
            open_ones.append(opened)
        elif part in _CLOSING:
            del open_ones[-1:]
        elif part == ":" and before is not None and open_ones:
            yield Key(open_ones[-1], len(open_ones), _name(before[0]), before.start() + 1)
        before = match


def _name(quoted: str) -> str:
    try:
        return str(json.loads(quoted))
    except ValueError:
        return quoted
