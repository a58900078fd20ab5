"""Secrets, one folder per identity as its row in the table says. Made once, never overwritten, read by one uid only.

Keys of age and Ed25519 are made by ``evaluator.vault.keys`` in the web environment and come back through a pipe:
the box itself needs the standard library alone.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
from pathlib import Path

from box import environments, layout
from box.state import State
from leaderboard.identities import IDENTITIES

KINDS = {"vault.key": "age", "signing.key": "ed25519"}


def ensure(state: State) -> None:
    """Make whatever is missing, for every identity and for the two passwords that root keeps."""
    for name, identity in IDENTITIES.items():
        for secret in sorted(identity.secrets()):
            _ensure(state, name, secret)
    password(state, "owner", "database.password")


def password(state: State, name: str, secret: str) -> str:
    """A random password, made at the first call."""
    path = state.secret(name, secret)
    if not path.exists():
        write_secret(path, secrets.token_urlsafe(32) + "\n", layout.owner(state, name))
    return path.read_text().strip()


def _ensure(state: State, name: str, secret: str) -> None:
    if secret not in KINDS:
        password(state, name, secret)
        return
    kind, path = KINDS[secret], state.secret(name, secret)
    public = state.public / f"{name}.{kind}"
    if path.exists() and public.exists():
        return
    if path.exists():
        raise RuntimeError(
            f"{path} exists without {public}. Put the public key back; the private one is kept as it is."
        )
    made = _new_key(state, kind)
    public.unlink(missing_ok=True)
    write_secret(public, made["public"], layout.owner(state, "owner"), 0o444)
    write_secret(path, made["private"], layout.owner(state, name))


def _new_key(state: State, kind: str) -> dict[str, str]:
    python = environments.ensure(state, "web")
    command = (str(python), "-m", "evaluator.vault.keys", kind)
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, str] = json.loads(done.stdout)
    return found


def write_secret(path: Path, text: str, owner: tuple[int, int], mode: int = 0o400) -> None:
    """Write beside and rename: a secret is whole or absent. The file is closed to others from its first byte."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.unlink(missing_ok=True)
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
        if os.geteuid() == 0:
            os.fchown(file.fileno(), *owner)
        os.fchmod(file.fileno(), mode)
        os.fsync(file.fileno())
    beside.rename(path)
