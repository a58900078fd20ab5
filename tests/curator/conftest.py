"""Task files for tests: good ones as lines, bad ones made by changing one thing."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pytest

from evaluator.curator import importing
from evaluator.errors import Finding, Refused

NAME = "tasks.jsonl"

Read = Callable[[bytes], list[Finding]]


def good(number: int = 1, **fields: Any) -> dict[str, Any]:
    """A valid item. A field given as ``...`` is left out."""
    item = {"id": f"item-{number}", "kind": "numeric", "prompt": f"{number} + 0 =", "answer": str(number),
            "category": "sums", **fields}  # fmt: skip
    return {key: value for key, value in item.items() if value is not ...}


def line(number: int = 1, **fields: Any) -> bytes:
    return json.dumps(good(number, **fields), ensure_ascii=False).encode() + b"\n"


def findings(data: bytes) -> list[Finding]:
    """What the import has against a file; empty where it takes it."""
    try:
        importing.check(io.BytesIO(data), NAME)
    except Refused as refusal:
        return list(refusal.findings)
    return []


@pytest.fixture
def places() -> Callable[[bytes], list[tuple[str, str]]]:
    """Code and place of each mistake, without the words."""
    return lambda data: [
        (found.code.removeprefix("items."), found.where.partition(", ")[2]) for found in findings(data)
    ]
