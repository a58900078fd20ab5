"""Seal and open bytes: deflate, then the age format (X25519), to a fixed list of recipients.

A sealed file, once decrypted, is

    8 bytes   "HELDOUT1"
    8 bytes   length of the plaintext, big-endian
    rest      the plaintext as one zlib stream

Two digests name a pack. The *sealed* digest is of the age file: its address in the store, and different each time,
since age draws fresh keys. The *content* digest is of the plaintext: equal content, equal digest, on any machine.

Opening checks, in this order, and stops at the first that fails:

1. the sealed bytes have the sealed digest that was asked for;
2. age finds a stanza for our key (else ``NoKey``) and every chunk's authentication tag holds;
3. the declared length is within the cap, and the stream inflates to exactly that, no byte more;
4. the plaintext has the content digest that was asked for.

Messages name digests and lengths, never content.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass

from pyrage import DecryptError, decrypt, encrypt

from evaluator.errors import IntegrityError, Misuse
from evaluator.records.canonical import digest_of_bytes
from evaluator.vault.keyring import Keyring, NoKey

LARGEST = 1 << 30
"""Plaintext bytes of one pack at most, on both sides."""

_MAGIC = b"HELDOUT1"
_HEADER = struct.Struct(">8sQ")
_LEVEL = 6  # deflate's own default: level 9 takes three times as long for 2 % less
_WRONG_KEY = "No matching keys found"


@dataclass(frozen=True)
class PackRef:
    """The two names of a pack, as the database keeps them."""

    sealed: str
    content: str


@dataclass(frozen=True)
class Sealed:
    """A pack just sealed: the bytes for the store and the names for the database."""

    data: bytes
    ref: PackRef
    size: int


def seal(plaintext: bytes, identities: Iterable[str], keyring: Keyring) -> Sealed:
    """Seal ``plaintext`` to ``identities``. Needs public keys alone."""
    if len(plaintext) > LARGEST:
        raise Misuse(f"a pack of {len(plaintext)} bytes is larger than the {LARGEST} that can be opened again")
    body = _HEADER.pack(_MAGIC, len(plaintext)) + zlib.compress(plaintext, _LEVEL)
    data = encrypt(body, keyring.recipients(identities))
    return Sealed(data, PackRef(sealed=digest_of_bytes(data), content=digest_of_bytes(plaintext)), len(plaintext))


def unseal(ref: PackRef, data: bytes, keyring: Keyring, *, limit: int = LARGEST) -> bytes:
    """The plaintext of ``data``, all four checks passed."""
    if digest_of_bytes(data) != ref.sealed:
        raise IntegrityError(f"the sealed pack is not {ref.sealed}")
    plaintext = unseal_unnamed(data, keyring, limit=limit)
    if digest_of_bytes(plaintext) != ref.content:
        raise IntegrityError(f"pack {ref.sealed}: its content is not {ref.content}")
    return plaintext


def unseal_unnamed(data: bytes, keyring: Keyring, *, limit: int = LARGEST) -> bytes:
    """Checks 2 and 3 alone, for bytes whose digests nobody wrote down (a journal's chunks, which stand in no row)."""
    try:
        body = decrypt(data, [keyring.identity()])
    except DecryptError as error:
        if _WRONG_KEY in str(error):
            raise NoKey("the pack is sealed to other identities; this one's key does not open it") from None
        raise IntegrityError("the sealed pack is damaged or cut short") from None
    return _inflate(body, limit)


def _inflate(body: bytes, limit: int) -> bytes:
    if len(body) < _HEADER.size or not body.startswith(_MAGIC):
        raise IntegrityError("the sealed pack does not hold what this version seals")
    _, size = _HEADER.unpack_from(body)
    if size > limit:
        raise IntegrityError(f"the pack declares {size} bytes; at most {limit} are opened")
    stream = zlib.decompressobj()
    try:
        plaintext = stream.decompress(body[_HEADER.size :], size + 1)
    except zlib.error:
        raise IntegrityError("the pack's content can't be inflated") from None
    if len(plaintext) != size or not stream.eof or stream.unused_data:
        raise IntegrityError("the pack inflates to another length than it declares")
    return plaintext
