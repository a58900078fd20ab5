"""Whole items, question and answer together: a file as a curator sent it, and the record of a release.

Only who may read prompts *and* answers may read these: curator and auditor. The web process seals an uploaded file
here the moment it has it and can't open it again. The record of a release keeps what no other pack does: the
curator's own ids, reference solutions, the reserve, and the key from which order and group names were drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from evaluator.records import packs
from evaluator.records.shapes import Check, hex_digest, integer, nullable, uuid_text
from evaluator.vault import sealing
from evaluator.vault.keyring import Keyring

READERS = ("curator", "auditor")

_INDEX = integer(0, 2**31 - 1)

ITEMS = packs.make_format(
    "heldout.items/1", {"release": uuid_text, "key": hex_digest},
    {
        "index": _INDEX, "position": nullable(_INDEX), "uuid": uuid_text, "group": uuid_text,
        "item": Check(lambda value: isinstance(value, dict), "an object"),
    },
)  # fmt: skip

LARGEST_UPLOAD = 256 << 20
"""Bytes of an uploaded file at most."""


def seal_upload(data: bytes, keyring: Keyring) -> sealing.Sealed:
    """A task file exactly as it came. Nothing of it has been read yet."""
    return sealing.seal(data, READERS, keyring)


def unseal_upload(ref: sealing.PackRef, data: bytes, keyring: Keyring) -> bytes:
    return sealing.unseal(ref, data, keyring, limit=LARGEST_UPLOAD)


def seal(release: str, key: bytes, items: Iterable[Mapping[str, Any]], keyring: Keyring) -> sealing.Sealed:
    """``items``: ``{"index", "position", "uuid", "group", "item"}``.

    ``index`` counts the curator's file; ``position`` is the index in the other packs, null for the reserve.
    """
    return sealing.seal(packs.write(ITEMS, {"release": release, "key": key.hex()}, items), READERS, keyring)


def unseal(ref: sealing.PackRef, data: bytes, keyring: Keyring) -> packs.Pack:
    """The header with ``release``, ``key`` and ``count``, and the items in the order of the curator's file."""
    return packs.read(ITEMS, sealing.unseal(ref, data, keyring))
