"""One way to turn a value into bytes and bytes into a digest: RFC 8785 canonical JSON and SHA-256.

>>> canonical({"b": 1, "a": "é"})
b'{"a":"\\xc3\\xa9","b":1}'
>>> digest({"a": 1}).startswith("sha256:")
True

Values are objects with text keys, arrays, text, booleans, null and integers up to 2**53 - 1. Records hold no
floating-point numbers: scores are decimal text, log-probabilities whole micronats; a float is refused, because two
machines may print one float in two ways.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import orjson
import rfc8785

_LARGEST = 2**53 - 1
_SCALARS = frozenset({str, bool, type(None)})


def canonical(value: object) -> bytes:
    """RFC 8785 bytes of ``value``. Raises ``ValueError`` for floats, large integers and lone surrogates.

    orjson writes the same bytes as RFC 8785 for everything we allow with ASCII keys and is a hundred times faster;
    keys outside ASCII sort by UTF-16 there, so such objects take the library's path.
    """
    try:
        if not _plain(value):
            return rfc8785.dumps(value)  # type: ignore[arg-type]  # the library's recursive alias can't name Mapping
        return bytes(orjson.dumps(value, default=_builtin, option=orjson.OPT_SORT_KEYS))
    except orjson.JSONEncodeError as error:
        raise ValueError(f"no canonical form: {error}") from error
    except RecursionError:
        raise ValueError("no canonical form: nested too deeply") from None


def canonical_of_checked(value: object) -> bytes:
    """The same bytes, ten times sooner, for a value whose shape was checked: ASCII keys, no floats, exact integers."""
    try:
        return bytes(orjson.dumps(value, option=orjson.OPT_SORT_KEYS))
    except orjson.JSONEncodeError as error:
        raise ValueError(f"no canonical form: {error}") from error


def digest(value: object) -> str:
    """``sha256:`` and the lower-case hexadecimal SHA-256 of the canonical bytes of ``value``."""
    return digest_of_bytes(canonical(value))


def digest_of_bytes(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def lines(records: Iterable[Mapping[str, Any]]) -> bytes:
    """Canonical JSON Lines: one record a line, each ended by a line feed."""
    return b"".join([canonical(record) + b"\n" for record in records])


def _plain(value: object) -> bool:
    """True where the fast encoder equals RFC 8785; raises for what no record may hold.

    Records are made by the hundred thousand, so objects and lists of one type are checked by calls that loop in C.
    """
    kind = type(value)
    if kind in _SCALARS:
        return True
    if kind is dict:
        return _plain_object(value)  # type: ignore[arg-type]  # ``kind is dict`` does not narrow
    if isinstance(value, str):
        return True
    if isinstance(value, int):
        return _in_range(value, value)
    if isinstance(value, Mapping):
        return _plain_object(value)
    if isinstance(value, list | tuple):
        return _plain_list(value)
    if isinstance(value, float):
        raise ValueError("records hold no floats; store decimal text or a scaled integer")
    raise ValueError(f"{kind.__name__} has no JSON form")


def _plain_object(value: Mapping[Any, object]) -> bool:
    try:
        plain = "".join(value).isascii()
    except TypeError:
        wrong = next(type(key).__name__ for key in value if not isinstance(key, str))
        raise ValueError(f"object keys are text, not {wrong}") from None
    for item in value.values():
        if type(item) not in _SCALARS:
            plain = _plain(item) and plain
    return plain


def _plain_list(value: list[Any] | tuple[Any, ...]) -> bool:
    kinds = set(map(type, value))
    if kinds <= _SCALARS:
        return True
    if kinds == {int}:
        return _in_range(min(value), max(value))
    return all([_plain(item) for item in value])


def _in_range(smallest: int, largest: int) -> bool:
    if smallest < -_LARGEST or largest > _LARGEST:
        wrong = smallest if smallest < -_LARGEST else largest
        raise ValueError(f"integer {wrong} does not fit JSON's exact range; store it as text")
    return True


def _builtin(value: object) -> object:
    """The built-in form of what orjson does not write by itself: other mappings and named tuples."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, tuple):
        return list(value)
    raise ValueError(f"{type(value).__name__} has no JSON form")
