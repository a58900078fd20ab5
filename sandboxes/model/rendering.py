"""From an item to the exact token ids that the model sees, and back from ids to text.

The template is the checkpoint's own and is given nothing but the messages and a fixed clock: a template that prints
the date would otherwise render another prompt tomorrow.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jinja2

CLOCK = dt.datetime(2025, 1, 15, 12, 0, tzinfo=dt.UTC)
"""What ``strftime_now`` of a template says, always; intake tells it the same (``evaluator.records.controls.TODAY``)."""


class TemplateError(Exception):
    """The checkpoint's template refused this item's messages."""


@dataclass(frozen=True)
class Rendered:
    """The prompt as text and as ids, each with the digest that goes into the records."""

    text: str
    ids: list[int]

    @property
    def text_sha256(self) -> str:
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def ids_sha256(self) -> str:
        return hashlib.sha256(struct.pack(f"<{len(self.ids)}I", *self.ids)).hexdigest()


def render(tokenizer: Any, item: Mapping[str, Any]) -> Rendered:
    """Messages go through the template, which writes every special token itself; a bare prompt is taken as it is."""
    if "messages" not in item:
        prompt = item["prompt"]
        return Rendered(prompt, tokenizer(prompt).input_ids)
    text = _apply(tokenizer, item["messages"])
    return Rendered(text, tokenizer(text, add_special_tokens=False).input_ids)


def _apply(tokenizer: Any, messages: Sequence[Mapping[str, str]]) -> str:
    try:
        text = tokenizer.apply_chat_template(list(messages), tokenize=False, add_generation_prompt=True)
    except (jinja2.TemplateError, ValueError, TypeError, ArithmeticError, LookupError, RecursionError) as error:
        raise TemplateError(f"{type(error).__name__}: {error}"[:200]) from None
    return str(text)


def text_of(tokenizer: Any, ids: Sequence[int], stop: Sequence[str]) -> tuple[str, bool]:
    """The text of generated ids without special tokens, cut before the first stop string; and whether it was cut."""
    text = tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)
    found = [place for place in (text.find(end) for end in stop) if place >= 0]
    return (text[: min(found)], True) if found else (text, False)
