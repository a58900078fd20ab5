"""Hash every file of a checkpoint again before it is mounted, and see afterwards that nobody touched it.

The folder is named by the digest of its manifest and holds exactly the manifest's files. A file that was changed and
changed back in between still betrays itself by its change time, which only the kernel sets.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluator.errors import IntegrityError
from evaluator.records.canonical import digest

_CHUNK = 4 << 20

Stamp = tuple[int, int, int, int]
"""Device, inode, size and change time of a file."""


@dataclass(frozen=True)
class Verified:
    """A folder whose files had the manifest's digests at the moment of ``stamps``."""

    folder: Path
    stamps: Mapping[str, Stamp]

    def unchanged(self) -> bool:
        """Whether every file is still the one that was hashed."""
        try:
            return _stamps(self.folder) == self.stamps
        except (OSError, IntegrityError):
            return False


def folder_of(root: Path, manifest: Mapping[str, Any]) -> Path:
    return root / digest(manifest).removeprefix("sha256:")


def verify(root: Path, manifest: Mapping[str, Any]) -> Verified:
    """The checkpoint of this manifest below ``root``. Raises ``IntegrityError`` naming the first file that differs."""
    folder = folder_of(root, manifest)
    if not folder.is_dir() or folder.is_symlink():
        raise IntegrityError(f"checkpoint {folder.name}: there is no such folder")
    expected = {str(entry["name"]): entry for entry in manifest["files"]}
    before = _stamps(folder)
    if set(before) != set(expected):
        odd = sorted(set(before) ^ set(expected))
        raise IntegrityError(f"checkpoint {folder.name}: {', '.join(odd[:5])} missing or not in the manifest")
    for name, entry in expected.items():
        if before[name][2] != entry["size"] or _sha256(folder / name) != entry["sha256"]:
            raise IntegrityError(f"checkpoint {folder.name}: {name} is not what its manifest says")
    if _stamps(folder) != before:
        raise IntegrityError(f"checkpoint {folder.name}: changed while it was read")
    return Verified(folder, before)


def _stamps(folder: Path) -> dict[str, Stamp]:
    found = {}
    with os.scandir(folder) as entries:
        for entry in entries:
            facts = entry.stat(follow_symlinks=False)
            if not stat.S_ISREG(facts.st_mode):
                raise IntegrityError(f"checkpoint {folder.name}: {entry.name} is no regular file")
            found[entry.name] = (facts.st_dev, facts.st_ino, facts.st_size, facts.st_ctime_ns)
    return found


def _sha256(path: Path) -> str:
    hasher = hashlib.sha256()
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        while chunk := file.read(_CHUNK):
            hasher.update(chunk)
    return hasher.hexdigest()
