"""How each output was judged. Written by the grader; read by grader and auditor.

It takes the written pack and not the records: the auditor writes the same verdicts again to compare their digest, and
seals nothing.
"""

from __future__ import annotations

from evaluator.records import packs, verdicts
from evaluator.vault import sealing
from evaluator.vault.keyring import Keyring

READERS = ("grader", "auditor")


def seal(pack: bytes, keyring: Keyring) -> sealing.Sealed:
    """``pack``: what ``evaluator.records.verdicts.write_verdicts`` wrote."""
    return sealing.seal(pack, READERS, keyring)


def unseal(ref: sealing.PackRef, data: bytes, keyring: Keyring) -> packs.Pack:
    """The header with the digests that the verdicts stand on, and the verdicts by ascending index."""
    return verdicts.read_verdicts(sealing.unseal(ref, data, keyring))
