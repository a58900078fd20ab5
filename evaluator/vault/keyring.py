"""The keys one process has: everybody's public keys, and at most one private key, its own.

Public keys are ``<folder>/<identity>.age``, text, for all to read. The private key is one file that only its owner may
read; a process that seals but never opens (the web) has none and can't read back what it has just sealed.
"""

from __future__ import annotations

import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pyrage import IdentityError, RecipientError, x25519

from evaluator.errors import Misuse


class NoKey(PermissionError):
    """This process can't open the pack: it has no private key, or the pack was sealed to others."""


@dataclass(frozen=True)
class Keyring:
    public_folder: Path
    private_file: Path | None = None

    def recipients(self, identities: Iterable[str]) -> list[x25519.Recipient]:
        """The public keys of ``identities``. A missing one stops the sealing: nobody may be left out silently."""
        found = [self._recipient(name) for name in identities]
        if not found:
            raise Misuse("a pack sealed to nobody could never be read")
        return found

    def identity(self) -> x25519.Identity:
        """The private key, read anew each time so that it lies in memory no longer than an opening takes."""
        if self.private_file is None:
            raise NoKey("this process holds no private key, so it can't open sealed packs")
        if stat.S_IMODE(self.private_file.stat().st_mode) & 0o077:
            raise NoKey(f"{self.private_file.name} can be read by others; set its mode to 0400")
        try:
            return x25519.Identity.from_str(self.private_file.read_text("ascii").strip())
        except (IdentityError, UnicodeDecodeError):
            raise NoKey(f"{self.private_file.name} holds no age private key") from None

    def _recipient(self, name: str) -> x25519.Recipient:
        path = self.public_folder / f"{name}.age"
        try:
            return x25519.Recipient.from_str(path.read_text("ascii").strip())
        except FileNotFoundError:
            raise NoKey(f"no public key {path.name}: {name} could not read the pack") from None
        except (RecipientError, UnicodeDecodeError):
            raise NoKey(f"{path.name} holds no age public key") from None
