"""How one attempt at one item ended. Exactly one outcome each; only some carry a score.

A fault is ours and is never scored. Everything else is the model's doing and is graded on what is there.
"""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    ANSWERED = "answered"
    """The model finished: end-of-sequence token or a stop string of the preset."""
    LIMIT = "limit"
    """The model used up an allowance (tokens, turns, time, tool calls). Graded on what is there."""
    CONTEXT = "context"
    """Prompt and allowance do not fit the model's context. Graded on what is there, usually nothing."""
    REFUSED = "refused"
    """The model declined in a form the protocol recognises."""
    MALFORMED = "malformed"
    """Output that the protocol can't read (an unparseable tool call, say)."""
    FAULT = "fault"
    """Ours: engine, launcher, sandbox, tool, node or grader. Never scored; retried within bounds."""

    @property
    def scored(self) -> bool:
        return self is not Outcome.FAULT
