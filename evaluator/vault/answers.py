"""What is right, and how to compare. Read by curator, grader and auditor; never by who runs the model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from evaluator.records import packs
from evaluator.vault import sealing
from evaluator.vault.keyring import Keyring

READERS = ("curator", "grader", "auditor")


def seal(release: str, answers: Iterable[Mapping[str, Any]], keyring: Keyring) -> sealing.Sealed:
    """``answers``: ``{"index", "kind", "answer", "checker", "group", "category", "split"}``, ``choices`` where any."""
    return sealing.seal(packs.write_answers(release, answers), READERS, keyring)


def unseal(ref: sealing.PackRef, data: bytes, keyring: Keyring) -> packs.Pack:
    """The header with ``release`` and ``count``, and the answers by ascending index."""
    return packs.read_answers(sealing.unseal(ref, data, keyring))
