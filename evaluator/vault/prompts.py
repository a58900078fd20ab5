"""What a model is asked, and never what is right. Read by curator, runner and auditor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from evaluator.records import packs
from evaluator.vault import sealing
from evaluator.vault.keyring import Keyring

READERS = ("curator", "runner", "auditor")


def seal(release: str, prompts: Iterable[Mapping[str, Any]], keyring: Keyring) -> sealing.Sealed:
    """``prompts``: ``{"index", "messages"}`` or ``{"index", "prompt"}`` each; anything more is refused."""
    return sealing.seal(packs.write_prompts(release, prompts), READERS, keyring)


def unseal(ref: sealing.PackRef, data: bytes, keyring: Keyring) -> packs.Pack:
    """The header with ``release`` and ``count``, and the prompts by ascending index."""
    return packs.read_prompts(sealing.unseal(ref, data, keyring))
