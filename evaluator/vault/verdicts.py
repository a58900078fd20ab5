"""How each output was judged. Written by the grader; read by grader and auditor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from evaluator.records import packs, verdicts
from evaluator.vault import sealing
from evaluator.vault.keyring import Keyring

READERS = ("grader", "auditor")


def seal(header: Mapping[str, str], records: Iterable[Mapping[str, Any]], keyring: Keyring) -> sealing.Sealed:
    """``header``: ``run``, ``runspec`` and the digests of ``outputs``, ``answers`` (contents) and ``grader``."""
    return seal_written(verdicts.write_verdicts(header, records), keyring)


def seal_written(pack: bytes, keyring: Keyring) -> sealing.Sealed:
    """For who has written the pack already; the auditor writes one only to compare its digest, and seals nothing."""
    return sealing.seal(pack, READERS, keyring)


def unseal(ref: sealing.PackRef, data: bytes, keyring: Keyring) -> packs.Pack:
    """The header with the digests that the verdicts stand on, and the verdicts by ascending index."""
    return verdicts.read_verdicts(sealing.unseal(ref, data, keyring))
