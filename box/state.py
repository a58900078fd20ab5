"""Where everything of one installation lies: the folder ``var`` below the repository, and its config.json.

The layout is shared by every process of ours; each gets the folder as ``HELDOUT_STATE``. Nothing in here is secret
but what lies below ``secrets/``.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class State:
    """The folder ``var`` and the names inside it. ``separate`` says whether each identity is a Unix user of its own."""

    root: Path
    separate: bool

    @property
    def run(self) -> Path:
        return self.root / "run"

    @property
    def log(self) -> Path:
        return self.root / "log"

    @property
    def secrets(self) -> Path:
        return self.root / "secrets"

    @property
    def public(self) -> Path:
        return self.root / "public"

    @property
    def config_file(self) -> Path:
        return self.root / "config.json"

    def env(self, name: str) -> Path:
        return self.root / "env" / name

    def python(self, name: str) -> Path:
        return self.env(name) / "bin" / "python"

    def secret(self, identity: str, name: str) -> Path:
        return self.secrets / identity / name

    def config(self) -> dict[str, Any]:
        """The public settings of this installation; empty before the first start."""
        if not self.config_file.exists():
            return {}
        found: dict[str, Any] = json.loads(self.config_file.read_text())
        return found

    def configure(self, **sections: Any) -> None:
        """Add or replace sections of config.json, whole file at once, so that no reader sees half of it."""
        write_whole(self.config_file, json.dumps(self.config() | sections, indent=2, sort_keys=True) + "\n")


def here() -> State:
    """The state of this clone: ``HELDOUT_STATE`` if set, else ``var`` below the repository."""
    root = Path(os.environ.get("HELDOUT_STATE") or REPOSITORY / "var").resolve()
    return State(root=root, separate=os.geteuid() == 0)


def write_whole(path: Path, text: str, mode: int = 0o644) -> None:
    """Write beside and rename."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_text(text)
    beside.chmod(mode)
    beside.replace(path)


def folder(path: Path, mode: int = 0o755, owner: tuple[int, int] | None = None) -> Path:
    """A folder with exactly this mode, whatever the umask; as root also with this owner."""
    path.mkdir(parents=True, exist_ok=True)
    if owner is not None and os.geteuid() == 0:
        os.chown(path, *owner)
    path.chmod(mode)
    return path


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Wait until no other process of ours is inside with the same path."""
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
