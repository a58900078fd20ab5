"""Records as they stand in packs, for tests that need valid ones and don't care which."""

from __future__ import annotations

from typing import Any


def output_record(index: int, text: str = "4", outcome: str = "answered") -> dict[str, Any]:
    return {
        "index": index, "outcome": outcome, "detail": "eos", "text": text, "tokens": [1, 2], "logprob": -1000,
        "prompt_tokens": 3, "prompt_sha256": "0" * 64, "prompt_ids_sha256": "1" * 64, "batch": 0, "ms": 1,
    }  # fmt: skip


def answer_record(index: int, answer: str = "4", **fields: Any) -> dict[str, Any]:
    return {
        "index": index, "kind": "numeric", "answer": [answer], "checker": {}, "group": f"g{index}",
        "category": "sums", "split": "active", **fields,
    }  # fmt: skip


def verdict_record(index: int) -> dict[str, Any]:
    return {"index": index, "outcome": "answered", "score": "1", "reason": "equal", "found": "4"}
