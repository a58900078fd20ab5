"""How each output was judged. Written by the grader; read by grader and auditor.

``write`` stands apart from ``seal`` because the auditor writes the same verdicts again to compare their digest, and
seals nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

from evaluator.vault import jsonl, sealing
from evaluator.vault.keyring import Keyring

READERS = ("grader", "auditor")

FORM = jsonl.Form("heldout.verdicts/1", frozenset({"index", "outcome", "score", "reason", "found"}))


def write(header: jsonl.Record, verdicts: Iterable[jsonl.Record]) -> bytes:
    """``header``: ``run`` and the digests of ``runspec``, ``outputs``, ``answers`` (contents) and ``grader``."""
    return jsonl.write(FORM, header, verdicts)


def seal(plaintext: bytes, keyring: Keyring) -> sealing.Sealed:
    return sealing.seal(plaintext, READERS, keyring)


def unseal(ref: sealing.PackRef, data: bytes, keyring: Keyring) -> jsonl.Pack:
    """The header, and the verdicts by ascending index."""
    return jsonl.read(FORM, sealing.unseal(ref, data, keyring))
