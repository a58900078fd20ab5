"""New keys, as text. Whoever sets the machine up writes them to files; see the layout in docs/operations.md.

    python -m evaluator.vault.keys age        {"private": "AGE-SECRET-KEY-1…", "public": "age1…"}
    python -m evaluator.vault.keys ed25519    {"private": "-----BEGIN PRIVATE KEY-----…", "public": "…64 hex digits…"}

The private half goes to ``var/secrets/<identity>/``, the public half to ``var/public/<identity>.age`` or ``.ed25519``.
Printed to a pipe, never to a terminal: a key that scrolled by is no secret.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass

from pyrage import x25519
from securesystemslib.signer import CryptoSigner  # type: ignore[attr-defined]  # re-exported without __all__


@dataclass(frozen=True)
class KeyPair:
    private: str
    public: str


def new_vault_key() -> KeyPair:
    """An age X25519 pair: opens packs."""
    identity = x25519.Identity.generate()
    return KeyPair(private=f"{identity}\n", public=f"{identity.to_public()}\n")


def new_signing_key() -> KeyPair:
    """An Ed25519 pair: PKCS#8 PEM and the raw public key in hexadecimal."""
    signer = CryptoSigner.generate_ed25519()
    return KeyPair(private=signer.private_bytes.decode("ascii"), public=f"{signer.public_key.keyval['public']}\n")


_MAKERS = {"age": new_vault_key, "ed25519": new_signing_key}


def main(arguments: list[str]) -> int:
    if len(arguments) != 1 or arguments[0] not in _MAKERS:
        print(f"say which key to make: {' or '.join(_MAKERS)}", file=sys.stderr)
        return 2
    if sys.stdout.isatty():
        print("refusing to print a private key to a terminal; read it from a pipe", file=sys.stderr)
        return 2
    json.dump(asdict(_MAKERS[arguments[0]]()), sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
