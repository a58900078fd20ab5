"""Who owns which folder of the state. As root each identity is a Unix user of its own; as an ordinary user all are one.

No accounts are made on the machine: a uid is a number of ``leaderboard.identities``, and the group of the same number
goes with it. The two services that hold state get numbers of their own too.
"""

from __future__ import annotations

import os
from pathlib import Path

from box.state import State, folder
from leaderboard.identities import IDENTITIES, UID_BASE

SERVICES = {"postgres": 80, "valkey": 81}
"""Offsets above ``UID_BASE`` for what is no identity but needs a Unix user: PostgreSQL refuses to run as root."""


def uid(state: State, name: str) -> int:
    """The Unix user of an identity or service; our own where users are not separate, or for the owner."""
    if not state.separate or name == "owner":
        return os.geteuid()
    return UID_BASE + (SERVICES[name] if name in SERVICES else IDENTITIES[name].uid_offset)


def owner(state: State, name: str) -> tuple[int, int]:
    """uid and gid: the same number."""
    if not state.separate or name == "owner":
        return os.geteuid(), os.getegid()
    return uid(state, name), uid(state, name)


def ensure(state: State) -> None:
    """Make every folder with the owner and mode it must have. Nothing that exists is emptied."""
    for path in (state.root, state.run, state.log, state.secrets, state.public, state.root / "store"):
        folder(path)
    for name in IDENTITIES:
        folder(state.run / name, 0o750, owner(state, name))
        folder(state.secrets / name, 0o700, owner(state, name))
    folder(state.run / "launcher", 0o750, (uid(state, "launcher"), owner(state, "runner")[1]))
    folder(state.secrets / "owner", 0o700)
    _store(state)


def _store(state: State) -> None:
    """Packs are added by several identities and replaced by none: the sticky bit keeps one from another's files."""
    store, shared = state.root / "store", 0o1777 if state.separate else 0o755
    for place in (store / "packs", store / "practice"):
        folder(place, shared)
        for number in range(256):  # made here, so that no identity owns a folder of the store
            folder(place / f"{number:02x}", shared)
    folder(store / "checkpoints", 0o750, (uid(state, "web"), owner(state, "launcher")[1]))
    folder(state.root / "intake", 0o700, owner(state, "web"))
    folder(state.root / "journal", 0o700, owner(state, "runner"))


def socket_folder(state: State, name: str) -> Path:
    """Where a service puts its socket. A socket's path has room for 107 bytes, so a deep clone gets a short one."""
    path = state.run / name
    if len(str(path)) > 80:
        path = Path("/tmp") / f"heldout-{state.root.stat().st_ino}-{os.geteuid()}-{name}"  # noqa: S108  # a folder we own
    return path
