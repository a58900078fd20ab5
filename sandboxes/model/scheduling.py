"""The order in which prompts are worked through: the longest first, ties by index.

Neighbours of one batch are then of similar length, so that little is computed for padding; the order depends on the
set of items alone and not on how they arrived; and memory peaks at the start, where a failure costs least.
"""

from __future__ import annotations

from collections.abc import Sequence

from sandboxes.model.engine import Prompt


def ordered(prompts: Sequence[Prompt]) -> list[Prompt]:
    return sorted(prompts, key=lambda prompt: (-len(prompt.ids), prompt.index))


PADDED_TOKENS = 1 << 15
"""A batch of long prompts is narrower: rows times the longest prompt stay below this, so that memory is bounded."""


def batches(schedule: Sequence[Prompt], size: int) -> list[Sequence[Prompt]]:
    """Cut an ordered schedule into runs of at most ``size`` prompts."""
    cut, start = [], 0
    while start < len(schedule):
        rows = max(1, min(size, PADDED_TOKENS // max(1, len(schedule[start].ids))))
        cut.append(schedule[start : start + rows])
        start += rows
    return cut
