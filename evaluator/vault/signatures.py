"""Sign and verify statements: in-toto Statement v1 inside a DSSE envelope, Ed25519.

DSSE signs the exact payload bytes together with their type, so verifying never depends on how JSON is written; the
payload is canonical all the same, and Ed25519 draws no randomness: equal statement and key, equal envelope.

A verifier checks, in this order: the envelope is well formed; its payload type is in-toto's; exactly one signature,
by the key that was asked for, is valid; the payload is a Statement v1. What the statement *says* (subject, predicate)
is for the caller to compare with what it knows.
"""

from __future__ import annotations

import json
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import CryptoSigner, SSlibKey  # type: ignore[attr-defined]  # re-exported without __all__

from evaluator.errors import IntegrityError
from evaluator.records.canonical import canonical
from evaluator.records.scorecard import PAYLOAD_TYPE, STATEMENT_TYPE
from evaluator.vault.keyring import NoKey


def sign(body: Mapping[str, Any], private_file: Path) -> dict[str, Any]:
    """The DSSE envelope of the statement ``body``, as JSON, signed with the key in ``private_file`` (PKCS#8 PEM)."""
    envelope = Envelope(canonical(body), PAYLOAD_TYPE, {})
    envelope.sign(CryptoSigner(_private_key(private_file)))
    signed: dict[str, Any] = envelope.to_dict()
    return signed


def verify(envelope: Mapping[str, Any], public_file: Path) -> dict[str, Any]:
    """The statement inside ``envelope``, its signature checked against the key in ``public_file``."""
    parsed = _parse(envelope)
    if parsed.payload_type != PAYLOAD_TYPE:
        raise IntegrityError("the envelope holds another type of payload than an in-toto statement")
    if len(parsed.signatures) != 1:
        raise IntegrityError("the envelope needs exactly one signature")
    try:
        parsed.verify([_public_key(public_file)], 1)
    except VerificationError:
        raise IntegrityError(f"the signature is not valid under {public_file.name}") from None
    return _statement(parsed.payload)


def _parse(envelope: Mapping[str, Any]) -> Envelope:
    try:
        # A copy: from_dict rewrites the signatures of what it is given.
        return Envelope.from_dict(json.loads(json.dumps(dict(envelope))))
    except (KeyError, TypeError, ValueError, AttributeError):
        raise IntegrityError("the envelope is not a DSSE envelope") from None


def _statement(payload: bytes) -> dict[str, Any]:
    try:
        body = json.loads(payload)
    except ValueError:
        raise IntegrityError("the signed payload is no JSON") from None
    if not isinstance(body, dict) or body.get("_type") != STATEMENT_TYPE:
        raise IntegrityError("the signed payload is no in-toto Statement v1")
    return body


def _private_key(path: Path) -> Ed25519PrivateKey:
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise NoKey(f"{path.name} can be read by others; set its mode to 0400")
    try:
        key = load_pem_private_key(path.read_bytes(), None)
    except (ValueError, TypeError):
        raise NoKey(f"{path.name} holds no private key in PEM form") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise NoKey(f"{path.name} holds no Ed25519 key")
    return key


def _public_key(path: Path) -> SSlibKey:
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(path.read_text("ascii").strip()))
    except FileNotFoundError:
        raise NoKey(f"no public key {path.name}") from None
    except ValueError:
        raise NoKey(f"{path.name} holds no Ed25519 public key (64 hexadecimal digits)") from None
    return SSlibKey.from_crypto(key)
