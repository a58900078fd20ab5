"""The part of an output that a checker reads. Everything here is linear in the text and capped.

1. At most ``LONGEST_OUTPUT`` characters are looked at: more than any engine is allowed to write.
2. Thinking is no answer. ``<think>…</think>`` (also thinking, thought, reasoning) is removed, and whatever stands
   before a lone closing tag, whose opening tag was in the prompt. Thinking that is never closed means that the model
   did not get as far as an answer, whatever else is there.
3. Of what remains, the first ``LONGEST`` characters are read. The first and not the last, because the first final
   marker wins: what a model that runs on writes later must not change its verdict.

>>> answer_part("<think>5? no, 6.</think>6")
Part(text='6', cut=False)
>>> answer_part("<think>5? no, 6") is None
True
"""

from __future__ import annotations

import re
from itertools import islice
from typing import NamedTuple

LONGEST_OUTPUT = 4_000_000
LONGEST = 100_000
MOST_TAGS = 1_000
"""More thinking tags than this are no thinking that anybody could follow: read as unfinished."""

_TAG = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)>")


class Part(NamedTuple):
    """What is read, and whether something after it was not."""

    text: str
    cut: bool


def answer_part(untrusted: str) -> Part | None:
    """The answer part of an output, or ``None`` where its thinking was not finished."""
    text: str | None = untrusted[:LONGEST_OUTPUT]
    if "<" in untrusted:
        text = _without_thinking(untrusted[:LONGEST_OUTPUT])
        if text is None:
            return None
    assert text is not None
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return Part(text[:LONGEST], len(text) > LONGEST or len(untrusted) > LONGEST_OUTPUT)


def _without_thinking(text: str) -> str | None:
    said: list[str] = []
    thinking, position = False, 0
    tags = list(islice(_TAG.finditer(text), MOST_TAGS + 1))
    if len(tags) > MOST_TAGS:
        return None
    for tag in tags:
        closes = bool(tag.group(1))
        if not thinking and not closes:
            said.append(text[position : tag.start()])
        elif not thinking:
            said.clear()
        thinking, position = not closes, tag.end()
    if thinking:
        return None
    said.append(text[position:])
    return "".join(said)
