"""What an engine is to the rest of the guest: a loaded model that turns token ids into token ids."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol


class LoadError(Exception):
    """The checkpoint can't be loaded, and won't be the next time either: the submission's doing."""


class UnreadableError(Exception):
    """The checkpoint's files can't be read by this process: the host's doing."""


@dataclass(frozen=True)
class Sampling:
    """Every value that decides which token comes next. Sent whole; the checkpoint's own defaults never apply."""

    temperature: float
    top_p: float
    top_k: int
    max_tokens: int
    seed: int
    stop: tuple[str, ...]

    @property
    def greedy(self) -> bool:
        return self.temperature == 0

    def item_seed(self, index: int) -> int:
        """Where the random numbers of one item start: from the preset's seed and the item's index, whatever else is
        in the batch. Hashed, because generators look at the lower bits alone."""
        return int.from_bytes(hashlib.sha256(f"{self.seed}/{index}".encode()).digest()[:7], "big")

    @classmethod
    def from_preset(cls, preset: Mapping[str, Any]) -> Sampling:
        """Raises ``KeyError``, ``TypeError`` or ``ValueError`` where the preset lacks a value: nothing is guessed."""
        return cls(
            temperature=float(preset["temperature"]),
            top_p=float(preset["top_p"]),
            top_k=int(preset["top_k"]),
            max_tokens=int(preset["max_tokens"]),
            seed=int(preset["seed"]),
            stop=tuple(str(text) for text in preset["stop"]),
        )


@dataclass(frozen=True)
class Prompt:
    """One request, rendered. ``allowance`` is the number of new tokens it may have: at least one."""

    index: int
    ids: Sequence[int]
    allowance: int


@dataclass
class Completion:
    """What the engine made of one prompt, in ids. ``logprob`` sums the chosen tokens' natural log-probabilities under
    the model's unmodified distribution. ``batch`` numbers the batches of an engine that has them."""

    index: int
    ids: list[int] = field(default_factory=list)
    logprob: float = 0.0
    batch: int = 0


class Engine(Protocol):
    """A loaded model."""

    name: str
    tokenizer: Any
    """A transformers tokenizer, for rendering and for turning ids into text."""

    def facts(self) -> dict[str, Any]:
        """What was effectively loaded: ``dtype``, ``vocabulary``, ``context`` (or null), ``threads``, ``endings``."""

    def generate(self, schedule: Sequence[Prompt], sampling: Sampling) -> Iterator[Completion]:
        """Work through the schedule in its order; each completion comes as soon as it is finished."""
