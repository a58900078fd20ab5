"""What a model is asked, and never what is right. Read by curator, runner and auditor."""

from __future__ import annotations

from collections.abc import Iterable

from evaluator.vault import jsonl, sealing
from evaluator.vault.keyring import Keyring

READERS = ("curator", "runner", "auditor")

FORM = jsonl.Form("heldout.prompts/1", frozenset({"index", "messages", "prompt"}))


def seal(release: str, prompts: Iterable[jsonl.Record], keyring: Keyring) -> sealing.Sealed:
    """``prompts``: ``{"index", "messages"}`` or ``{"index", "prompt"}`` each."""
    return sealing.seal(jsonl.write(FORM, {"release": release}, prompts), READERS, keyring)


def unseal(ref: sealing.PackRef, data: bytes, keyring: Keyring) -> jsonl.Pack:
    """The header with ``release`` and ``count``, and the prompts by ascending index."""
    return jsonl.read(FORM, sealing.unseal(ref, data, keyring))
