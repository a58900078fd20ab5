"""The demo benchmark: short questions of three kinds, drawn from a secret seed, never stored in a repository.

Same seed, same file, byte for byte. Each kind fills a third of each split. No question is there twice, and a group
(the fact or the figures asked about) is in one split only, so that no hidden item has a twin among practice items.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle, islice
from random import Random
from typing import Any

from evaluator.curator.demo_choice import CHOICE
from evaluator.curator.demo_exact import EXACT
from evaluator.curator.demo_families import Draft, Family
from evaluator.curator.demo_numeric import NUMERIC
from evaluator.errors import Misuse
from evaluator.records.canonical import lines

SIZES: Mapping[str, int] = {"practice": 60, "reserve": 120, "active": 120}

SYSTEM = "Be brief."
"""A system message of our own: without one, chat templates put in theirs, which is longer than our questions."""

FAMILIES: tuple[Family, ...] = (*EXACT, *CHOICE, *NUMERIC)

_KINDS = ("exact", "choice", "numeric")
_MOST_DRAWS = 200_000


def new_seed() -> bytes:
    """A fresh secret. Whoever knows it knows every hidden item."""
    return secrets.token_bytes(32)


def task_file(seed: bytes, sizes: Mapping[str, int] = SIZES) -> bytes:
    """A task file of demo items, ready to be imported like anybody's."""
    random = Random(int.from_bytes(seed, "big"))
    drawn = [item for kind in _KINDS for item in _of_kind(kind, random, sizes)]
    random.shuffle(drawn)
    return lines({"id": f"demo-{number:04}", **item} for number, item in enumerate(drawn, start=1))


def _of_kind(kind: str, random: Random, sizes: Mapping[str, int]) -> Iterator[dict[str, Any]]:
    """Items of one kind: families take turns, and a new group goes to a split that still wants items."""
    wanted = Counter({split: size // len(_KINDS) for split, size in sizes.items()})
    split_of: dict[tuple[str, str], str] = {}
    questions: set[str] = set()
    for family in islice(cycle(_shuffled(kind, random)), _MOST_DRAWS):
        draft = family.draw(random)
        split = split_of.get((family.name, draft.group)) or _wanted_split(wanted, random)
        if draft.question in questions or draft.question == family.example[0] or not wanted[split]:
            continue
        questions.add(draft.question)
        split_of[family.name, draft.group] = split
        wanted[split] -= 1
        yield _item(family, draft, split)
        if not wanted.total():
            return
    raise Misuse(f"the demo's families of kind {kind} can't fill {dict(sizes)}")


def _shuffled(kind: str, random: Random) -> Sequence[Family]:
    families = [family for family in FAMILIES if family.kind == kind]
    return random.sample(families, k=len(families))


def _wanted_split(wanted: Counter[str], random: Random) -> str:
    [split] = random.choices(list(wanted), weights=list(wanted.values()))
    return split


def _item(family: Family, draft: Draft, split: str) -> dict[str, Any]:
    asked, answered = family.example
    messages = [("system", SYSTEM), ("user", asked), ("assistant", answered), ("user", draft.question)]
    extras = {"choices": list(draft.choices), "checker": dict(family.checker), "reference": draft.reference}
    return {
        "kind": family.kind,
        "messages": [{"role": role, "content": content} for role, content in messages],
        "answer": list(draft.answers),
        "category": family.category,
        "split": split,
        "group": f"{family.name}: {draft.group}",
        "tags": [family.name, f"{family.name}-{family.wording}"],
        **{key: value for key, value in extras.items() if value},
    }
