"""Check that every prompt reached the model as it was sent, and that nothing else did.

A template is a program of the submitter's, and one can be written that passes any test with random texts and reacts
to a single hidden prompt. So each run first sends a *probe* for each sequence of roles, with contents that nobody
could know before; what the template puts around them is its *frame* for these roles. Then every item of the run must
be exactly that frame around that item's own contents. Anything else is an incident, not a score.

A template may strip white space around a content (many do): the probe shows it, and the rule then holds for all.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

PADDING = "\t \t"
"""White space around a probe's content: what is left of it says how the template strips."""

Roles = tuple[str, ...]


def roles_of(item: Mapping[str, Any]) -> Roles | None:
    """The sequence of roles, or ``None`` for a bare prompt, which is rendered by nothing."""
    return tuple(message["role"] for message in item["messages"]) if "messages" in item else None


def probe(roles: Roles) -> list[dict[str, str]]:
    """Messages with these roles and contents that are new each time."""
    return [{"role": role, "content": f"{PADDING}{secrets.token_hex(12)}{PADDING}"} for role in roles]


@dataclass(frozen=True)
class Frame:
    """What a template puts before, between and behind the contents; and whether it strips each side of each."""

    pieces: tuple[str, ...]
    strips: tuple[tuple[bool, bool], ...]

    @classmethod
    def learn(cls, messages: Sequence[Mapping[str, str]], rendered: str) -> Frame | None:
        """From a rendered probe; ``None`` where a content is missing, repeated, rewritten or out of order."""
        pieces, strips, place = [], [], 0
        for message in messages:
            nonce = message["content"].strip()
            at = rendered.find(nonce)
            end = at + len(nonce)
            if at < place or rendered.count(nonce) != 1:
                return None
            keeps_left = rendered[place:at].endswith(PADDING)
            keeps_right = rendered.startswith(PADDING, end)
            pieces.append(rendered[place : at - len(PADDING) * keeps_left])
            strips.append((not keeps_left, not keeps_right))
            place = end + len(PADDING) * keeps_right
        return cls((*pieces, rendered[place:]), tuple(strips))

    def around(self, messages: Sequence[Mapping[str, str]]) -> str:
        """These messages as the template must render them."""
        parts = [self.pieces[0]]
        for message, (left, right), piece in zip(messages, self.strips, self.pieces[1:], strict=True):
            content = message["content"]
            content = content.lstrip() if left else content
            parts += (content.rstrip() if right else content, piece)
        return "".join(parts)


def stands(item: Mapping[str, Any], rendered: str, frames: Mapping[Roles, Frame]) -> bool:
    """Whether ``rendered`` is this item and nothing else."""
    roles = roles_of(item)
    if roles is None:
        return bool(rendered == item["prompt"])
    return rendered == frames[roles].around(item["messages"])
