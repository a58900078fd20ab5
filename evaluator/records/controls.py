"""The control prompt: fixed, the same for every checkpoint and every run, and no secret.

Intake renders and tokenises it with jinja2 and the tokenizers library; the guest does the same with its engine. A run
whose guest gets other text or other token ids than intake did is void: template or tokenizer were read in two ways.

The text is short (it must fit a context of 256 bytes) and awkward on purpose: a line feed and a tab, digits, a
decomposed accent, scripts of two, three and four bytes, and no special token of anybody's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

TEXT = "Copy: 3.14 + 2,000\n\tnai\u0308ve caf\u00e9, Привет, 東京 🙂"

MESSAGES: tuple[dict[str, str], ...] = ({"role": "user", "content": TEXT},)
"""For presets in chat mode."""

PROMPT = TEXT
"""For presets in completion mode."""

TODAY = datetime(2025, 1, 15, 12, 0, tzinfo=UTC)
"""What a template that writes today's date is told, here and in every run, so that a run replays next year."""


def strftime_now(form: str) -> str:
    """The function of this name that templates call."""
    return TODAY.strftime(form)


def prompt_digests(text: str, ids: Sequence[int]) -> dict[str, Any]:
    """How a rendered prompt is compared: its UTF-8 text, its token ids as little-endian uint32, and their number."""
    packed = b"".join(number.to_bytes(4, "little") for number in ids)
    return {
        "text_sha256": hashlib.sha256(text.encode("utf-8")).hexdigest(),
        "ids_sha256": hashlib.sha256(packed).hexdigest(),
        "ids": len(ids),
    }
