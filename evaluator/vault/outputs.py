"""What a model said in one run. Written by the runner, which can't read it back; read by grader and auditor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from evaluator.records import packs
from evaluator.vault import sealing
from evaluator.vault.keyring import Keyring

READERS = ("grader", "auditor")


def seal(run: str, runspec: str, outputs: Iterable[Mapping[str, Any]], keyring: Keyring) -> sealing.Sealed:
    """``runspec`` is the digest that everything of the run cites."""
    return sealing.seal(packs.write_outputs(run, runspec, outputs), READERS, keyring)


def unseal(ref: sealing.PackRef, data: bytes, keyring: Keyring) -> packs.Pack:
    """The header with ``run``, ``runspec`` and ``count``, and the outputs by ascending index."""
    return packs.read_outputs(sealing.unseal(ref, data, keyring))
