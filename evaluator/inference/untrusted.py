"""Validate what a guest says. Each function takes an untrusted message and returns what may be used, or raises.

Nothing is corrected but one thing: text that is no valid Unicode (a lone surrogate) has the odd code unit written out
as an escape, so that it can be stored.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evaluator.inference.endings import broken_wire
from evaluator.records.outcomes import Outcome

LONGEST_TEXT = 1 << 20
LARGEST_ID = 1 << 32
_LARGEST = 1 << 53

DETAILS = {
    Outcome.ANSWERED: ("eos", "stop"),
    Outcome.LIMIT: ("length",),
    Outcome.CONTEXT: ("context",),
    Outcome.MALFORMED: ("template", "empty"),
}
"""What a model guest may call the end of an item, and the codes that go with it."""

_KEYS = frozenset(
    [
        "index",
        "outcome",
        "detail",
        "text",
        "tokens",
        "logprob",
        "batch",
        "ms",
        "rendered",
        "prompt_tokens",
        "prompt_sha256",
        "prompt_ids_sha256",
    ]
)
_HEX = re.compile(r"[0-9a-f]{64}\Z").match


@dataclass(frozen=True)
class Output:
    """One validated answer. ``rendered`` is the prompt as the model got it; it is not part of the record."""

    record: dict[str, Any]
    rendered: str

    @property
    def index(self) -> int:
        return int(self.record["index"])

    @property
    def answered_nothing(self) -> bool:
        """The template failed on it, so that there is no rendered prompt to check."""
        return bool(self.record["detail"] == "template")


def output(untrusted: Mapping[str, Any], allowances: Mapping[int, int]) -> Output:
    """``allowances`` holds the items that are still owed, each with its most tokens."""
    if untrusted.keys() != _KEYS:
        raise broken_wire(f"OUTPUT with fields {sorted(untrusted.keys() ^ _KEYS)[:5]}")
    index = untrusted["index"]
    if type(index) is not int or index not in allowances:
        raise broken_wire(f"OUTPUT for an item that is not owed: {index!r:.30}")
    outcome = _outcome(untrusted)
    rendered, text = _text(untrusted, "rendered"), _text(untrusted, "text")
    if len(text) > LONGEST_TEXT:
        raise broken_wire("OUTPUT with too long a text")
    record = {
        "index": index,
        "outcome": outcome,
        "detail": untrusted["detail"],
        "text": text,
        "tokens": _tokens(untrusted["tokens"], allowances[index]),
        "logprob": _logprob(untrusted["logprob"]),
        "prompt_tokens": _count(untrusted, "prompt_tokens"),
        "prompt_sha256": hashlib.sha256(rendered.encode()).hexdigest(),
        "prompt_ids_sha256": untrusted["prompt_ids_sha256"],
        "batch": _count(untrusted, "batch"),
        "ms": _count(untrusted, "ms"),
    }
    if untrusted["prompt_sha256"] != record["prompt_sha256"]:
        raise broken_wire("OUTPUT whose prompt has another digest than it says")
    if type(record["prompt_ids_sha256"]) is not str or not _HEX(record["prompt_ids_sha256"]):
        raise broken_wire("OUTPUT without a digest of its ids")
    return Output(record, rendered)


def facts(untrusted: Mapping[str, Any]) -> dict[str, Any]:
    """HELLO, READY and DONE hold a few short facts; anything larger isn't kept."""
    if len(repr(untrusted)) > 1 << 16:
        raise broken_wire("facts of unreasonable size")
    return dict(untrusted)


def code_and_detail(untrusted: Mapping[str, Any]) -> tuple[str, str]:
    """Of a FAULT frame."""
    code, detail = untrusted.get("code"), untrusted.get("detail")
    if not isinstance(code, str) or not isinstance(detail, str):
        raise broken_wire("FAULT without a code")
    return _valid(code), _valid(detail)


def _outcome(untrusted: Mapping[str, Any]) -> str:
    outcome, detail = untrusted["outcome"], untrusted["detail"]
    if not isinstance(outcome, str) or detail not in DETAILS.get(outcome, ()):  # type: ignore[call-overload]
        raise broken_wire("OUTPUT with an unknown ending")
    return outcome


def _text(untrusted: Mapping[str, Any], key: str) -> str:
    text = untrusted[key]
    if not isinstance(text, str):
        raise broken_wire(f"OUTPUT whose {key} is no text")
    return _valid(text)


def _valid(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode()
    return text


def _tokens(untrusted: object, most: int) -> list[int]:
    if not isinstance(untrusted, list) or len(untrusted) > most:
        raise broken_wire("OUTPUT with more tokens than allowed")
    if not all([type(token) is int and 0 <= token < LARGEST_ID for token in untrusted]):
        raise broken_wire("OUTPUT with a token that is no id")
    return untrusted


def _logprob(untrusted: object) -> int | None:
    if untrusted is None or (type(untrusted) is int and -_LARGEST < untrusted <= 0):
        return untrusted
    raise broken_wire("OUTPUT with an impossible log-probability")


def _count(untrusted: Mapping[str, Any], key: str) -> int:
    number = untrusted[key]
    if type(number) is not int or not 0 <= number < _LARGEST:
        raise broken_wire(f"OUTPUT whose {key} is no count")
    return number
