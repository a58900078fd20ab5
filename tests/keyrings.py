"""Keys for tests: every identity of the table gets what the table says it has, in files laid out as in ``var/``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from evaluator.vault import keys
from evaluator.vault.keyring import Keyring
from leaderboard.identities import IDENTITIES


@dataclass(frozen=True)
class Keys:
    folder: Path

    @property
    def public(self) -> Path:
        return self.folder / "public"

    def ring(self, identity: str) -> Keyring:
        """What a process of ``identity`` holds: the web and others without a vault key can only seal."""
        private = self.folder / "secrets" / identity / "vault.key"
        return Keyring(self.public, private if IDENTITIES[identity].has_vault_key else None)

    def signing(self, identity: str) -> Path:
        return self.folder / "secrets" / identity / "signing.key"

    def verifying(self, identity: str) -> Path:
        return self.public / f"{identity}.ed25519"


def make(folder: Path) -> Keys:
    made = Keys(folder)
    made.public.mkdir(parents=True)
    for identity in IDENTITIES.values():
        secrets = folder / "secrets" / identity.name
        secrets.mkdir(parents=True, mode=0o700)
        if identity.has_vault_key:
            _write(secrets / "vault.key", made.public / f"{identity.name}.age", keys.new_vault_key())
        if identity.signs:
            _write(secrets / "signing.key", made.verifying(identity.name), keys.new_signing_key())
    return made


def _write(private: Path, public: Path, pair: keys.KeyPair) -> None:
    private.touch(mode=0o600)
    private.write_text(pair.private)
    private.chmod(0o400)
    public.write_text(pair.public)
