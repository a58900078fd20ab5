"""Keeps an admitted checkpoint under its identity, and proves later that it still is what was admitted.

Files are copied, not linked or moved: a hard link or a moved file is still the same file for whoever holds it open for
writing, and would take its new mode and place with it. The copy is hashed on the way and is ours alone.

    checkpoints/<64 hex of the manifest's digest>/<file>     files 0444, folder 0755
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evaluator.errors import IntegrityError, Misuse
from evaluator.intake import names
from evaluator.intake.admission import Admission
from evaluator.intake.folder import CHUNK

_INCOMING = ".incoming-"
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def store(folder: Path, admission: Admission, destination: Path) -> Path:
    """Copy the admitted files of ``folder`` to ``destination/<hex>`` and return that path.

    All or nothing: the folder appears complete, synced and under its final name, or not at all. Storing the same
    checkpoint again verifies what is there. Raises ``IntegrityError`` where a file is no longer what was admitted.
    """
    final = destination / admission.digest.removeprefix("sha256:")
    if final.exists():
        verify(final, admission.manifest)
        return final
    destination.mkdir(parents=True, exist_ok=True)
    incoming = Path(tempfile.mkdtemp(prefix=_INCOMING, dir=destination))
    try:
        for entry in _entries(admission.manifest):
            _copy(folder / entry["name"], incoming / entry["name"], entry)
        incoming.chmod(0o755)
        _sync_folder(incoming)
        _publish(incoming, final, admission)
    finally:
        shutil.rmtree(incoming, ignore_errors=True)
    _sync_folder(destination)
    return final


def verify(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Hash every file again. Raises ``IntegrityError`` unless ``folder`` holds exactly what ``manifest`` lists."""
    entries = _entries(manifest)
    try:
        present = sorted(entry.name for entry in os.scandir(folder))
    except OSError as error:
        raise IntegrityError(f"{folder.name}: the checkpoint can't be read ({os.strerror(error.errno or 0)})") from None
    if odd := set(present) ^ {entry["name"] for entry in entries}:
        raise IntegrityError(f"{folder.name}: {names.shown(min(odd))} is missing or was never admitted")
    for entry in entries:
        with _reading(folder / entry["name"]) as source:
            _require(entry, *_hash(source, entry["size"]))


def clear_leftovers(destination: Path, older_than_s: float, now: float) -> int:
    """Remove what a killed ``store`` left half done. Returns how many. ``now`` is a time as ``time.time`` gives it."""
    stale = [path for path in destination.glob(f"{_INCOMING}*") if now - path.stat().st_mtime > older_than_s]
    for path in stale:
        shutil.rmtree(path, ignore_errors=True)
    return len(stale)


def _entries(manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    entries = manifest["files"]
    if not all(names.role(entry["name"]) for entry in entries):
        raise Misuse("a manifest that intake did not make")
    return list(entries)


def _copy(source: Path, target: Path, entry: Mapping[str, Any]) -> None:
    with _reading(source) as reading:
        writing = os.open(target, _WRITE, 0o600)
        try:
            _require(entry, *_hash(reading, entry["size"], writing))
            os.fchmod(writing, 0o444)
            os.fsync(writing)
        finally:
            os.close(writing)


def _publish(incoming: Path, final: Path, admission: Admission) -> None:
    try:
        incoming.rename(final)
    except OSError:
        # Another store of the same checkpoint was faster; any other reason shows itself here.
        verify(final, admission.manifest)


@contextlib.contextmanager
def _reading(path: Path) -> Any:
    try:
        fd = os.open(path, _READ)
    except OSError as error:
        raise IntegrityError(f"{names.shown(path.name)}: can't be opened ({os.strerror(error.errno or 0)})") from None
    try:
        yield fd
    finally:
        os.close(fd)


def _hash(source: int, size: int, target: int | None = None) -> tuple[int, str]:
    """Size and SHA-256 of ``source``, written to ``target`` on the way. Stops once it is more than ``size``."""
    found, length = hashlib.sha256(), 0
    while length <= size and (chunk := os.read(source, CHUNK)):
        found.update(chunk)
        length += len(chunk)
        while target is not None and chunk:
            chunk = chunk[os.write(target, chunk) :]
    return length, found.hexdigest()


def _require(entry: Mapping[str, Any], size: int, sha256: str) -> None:
    if (size, sha256) != (entry["size"], entry["sha256"]):
        raise IntegrityError(f"{entry['name']}: the content is not what was admitted")


def _sync_folder(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
