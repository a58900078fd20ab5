"""Control items: questions whose outcome doesn't depend on the model's skill. A run whose controls fail is void.

1. *canary*: the control prompt, first and alone. Its rendered text and its token ids must have the digests that
   intake computed with another implementation: template and tokenizer are read in one way only.
2. *repeat*: the same prompt as the last thing. Where the engine promises it (greedy, float32), the same tokens.
3. *limit*: the same prompt with one token allowed must end as ``limit`` (or be answered by that very token, where the
   canary's first token already ended it).
4. *context*: a prompt longer than the context must end as ``context``, with nothing generated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evaluator.inference.untrusted import Output
from evaluator.records.outcomes import Outcome

CANARY, REPEAT, LIMIT, CONTEXT, FIRST_PROBE = (2**31 + number for number in range(5))
"""Indices of control items; hidden items lie below all of them."""

CANARY_TOKENS = 16
"""The control prompt may have so many tokens at most: it goes alone, where a token costs the most time."""

LONGEST_CONTEXT = 1 << 19
"""Above this the context control would not fit a frame; it is then left out, and the report says so."""


@dataclass(frozen=True)
class Verdict:
    """One judged control. ``required``: whether its failure voids the run."""

    name: str
    passed: bool
    detail: str = ""
    required: bool = True

    def as_json(self) -> dict[str, Any]:
        return {"name": self.name, "passed": self.passed, "detail": self.detail, "required": self.required}


def asking(control: Mapping[str, Any], most: int) -> dict[str, Any]:
    """The control prompt as intake rendered it, for ``most`` tokens or fewer."""
    prompt = {key: control[key] for key in ("messages", "prompt") if key in control}
    return {**prompt, "max_tokens": min(most, CANARY_TOKENS)}


def overlong(control: Mapping[str, Any], context: int) -> dict[str, Any]:
    """A prompt that can't fit: numbers, each at least one token in any tokenizer."""
    text = " ".join(map(str, range(context + 1)))
    if "messages" in control:
        return {"messages": [{"role": "user", "content": text}]}
    return {"prompt": text}


def judge_canary(output: Output, control: Mapping[str, Any]) -> Verdict:
    found = output.record
    for name, here, there in (
        ("rendered text", found["prompt_sha256"], control["text_sha256"]),
        ("token ids", found["prompt_ids_sha256"], control["ids_sha256"]),
        ("number of tokens", found["prompt_tokens"], control["ids"]),
    ):
        if here != there:
            return Verdict("canary", passed=False, detail=f"the {name} differ from what intake computed")
    return Verdict("canary", passed=True)


def judge_repeat(first: Output, last: Output, *, promised: bool) -> Verdict:
    same = first.record["tokens"] == last.record["tokens"]
    return Verdict("repeat", same, "" if same else "other tokens than the first time", required=promised)


def judge_limit(output: Output, first: Output, *, promised: bool) -> Verdict:
    tokens, outcome = output.record["tokens"], output.record["outcome"]
    ended_at_once = len(first.record["tokens"]) == 1 and first.record["outcome"] == Outcome.ANSWERED
    wanted = Outcome.ANSWERED if ended_at_once and promised else Outcome.LIMIT
    if len(tokens) != 1 or (promised and outcome != wanted):
        return Verdict("limit", passed=False, detail=f"{outcome} after {len(tokens)} tokens")
    if promised and tokens != first.record["tokens"][:1]:
        return Verdict("limit", passed=False, detail="another first token than the canary's")
    return Verdict("limit", passed=True)


def judge_context(output: Output) -> Verdict:
    good = output.record["outcome"] == Outcome.CONTEXT and not output.record["tokens"]
    return Verdict("context", good, "" if good else f"ended as {output.record['outcome']}")
