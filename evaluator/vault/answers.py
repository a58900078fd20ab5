"""What is right, and how to compare. Read by curator, grader and auditor; never by who runs the model."""

from __future__ import annotations

from collections.abc import Iterable

from evaluator.vault import jsonl, sealing
from evaluator.vault.keyring import Keyring

READERS = ("curator", "grader", "auditor")

FORM = jsonl.Form(
    "heldout.answers/1",
    frozenset({"index", "kind", "answer", "checker", "group", "category", "split", "choices"}),
)


def seal(release: str, answers: Iterable[jsonl.Record], keyring: Keyring) -> sealing.Sealed:
    """``answers``: ``{"index", "kind", "answer", "checker", "group", "category", "split"}``, ``choices`` where any."""
    return sealing.seal(jsonl.write(FORM, {"release": release}, answers), READERS, keyring)


def unseal(ref: sealing.PackRef, data: bytes, keyring: Keyring) -> jsonl.Pack:
    """The header with ``release`` and ``count``, and the answers by ascending index."""
    return jsonl.read(FORM, sealing.unseal(ref, data, keyring))
