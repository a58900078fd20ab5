"""The shape of a family of demo items, and a maker that the files of families share.

A family is one kind of question with one worked example in front of it, so that a small model answers in a word. Each
draw names its ``group``: the fact or the figures it asks about. Items with one group are versions of each other and
always land on one side of the line between practice and hidden.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random


@dataclass(frozen=True)
class Draft:
    """One drawn question. ``group`` is unique within the family's name."""

    group: str
    question: str
    answers: tuple[str, ...]
    choices: tuple[str, ...] = ()
    reference: str = ""


@dataclass(frozen=True)
class Family:
    """``example``: a question and its answer, shown before the real one. ``wording`` tells families of a name apart."""

    name: str
    category: str
    kind: str
    example: tuple[str, str]
    draw: Callable[[Random], Draft]
    wording: int = 1
    checker: Mapping[str, str] = field(default_factory=dict)


def facts(
    name: str, category: str, wordings: Sequence[str], table: Mapping[str, str | tuple[str, ...]], example: str, *,
    checker: Mapping[str, str] | None = None,
) -> list[Family]:  # fmt: skip
    """One family per wording over one table of facts. The example's row is never asked."""
    asked = sorted(set(table) - {example})

    def family(number: int, wording: str) -> Family:
        def draw(random: Random) -> Draft:
            key = random.choice(asked)
            return Draft(key, wording.format(key), _several(table[key]))

        shown = (wording.format(example), _several(table[example])[0])
        return Family(name, category, "exact", shown, draw, number, checker or {})

    return [family(number, wording) for number, wording in enumerate(wordings, start=1)]


def _several(value: str | tuple[str, ...]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else value
