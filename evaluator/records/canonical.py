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
import json
from collections.abc import Iterable, Mapping
from typing import Any

import rfc8785

_FASTEST = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False).encode
_LARGEST = 2**53 - 1


def canonical(value: object) -> bytes:
    """RFC 8785 bytes of ``value``. Raises ``ValueError`` for floats, large integers and lone surrogates.

    The standard encoder writes the same bytes as RFC 8785 for everything we allow with ASCII keys and is twenty
    times faster; keys outside ASCII sort by UTF-16 there, so such objects take the library's path.
    """
    if _plain(value):
        return _FASTEST(value).encode("utf-8")
    return rfc8785.dumps(value)  # type: ignore[arg-type]  # the library's recursive alias can't name Mapping


def digest(value: object) -> str:
    """``sha256:`` and the lower-case hexadecimal SHA-256 of the canonical bytes of ``value``."""
    return digest_of_bytes(canonical(value))


def digest_of_bytes(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def lines(records: Iterable[Mapping[str, Any]]) -> bytes:
    """Canonical JSON Lines: one record a line, each ended by a line feed."""
    return b"".join(canonical(record) + b"\n" for record in records)


def _plain(value: object) -> bool:
    """True where the fast encoder equals RFC 8785; raises for what no record may hold."""
    if value is None or value is True or value is False or isinstance(value, str):
        return True
    if isinstance(value, int):
        if not -_LARGEST <= value <= _LARGEST:
            raise ValueError(f"integer {value} does not fit JSON's exact range; store it as text")
        return True
    if isinstance(value, float):
        raise ValueError("records hold no floats; store decimal text or a scaled integer")
    if isinstance(value, Mapping):
        plain = True
        for key, item in value.items():
            if not isinstance(key, str):
                raise ValueError(f"object keys are text, not {type(key).__name__}")
            plain = key.isascii() and _plain(item) and plain
        return plain
    if isinstance(value, list | tuple):
        return all([_plain(item) for item in value])
    raise ValueError(f"{type(value).__name__} has no JSON form")
