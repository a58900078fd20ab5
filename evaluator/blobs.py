"""A content-addressed store in a folder: the name of a file is the SHA-256 of its bytes.

    <folder>/<first two hex digits>/<64 hex digits><suffix>

Rules:

1. A name comes from a digest and from nothing else; no caller's text ever becomes a path.
2. A file appears whole or not at all (temporary file beside it, fsync, link under its name) and is never replaced.
3. Every read checks the digest; bytes that are not what their name says raise ``IntegrityError``.
4. No link is ever followed, neither as the last nor as the middle part of a path.

The folders are sticky (like ``/tmp``): each identity may add, none may replace or remove what another wrote. Even
one that owned a folder could gain nothing but a refusal at the next read (rule 3).
"""

from __future__ import annotations

import errno
import hashlib
import io
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from evaluator.errors import IntegrityError, Misuse

CHUNK = 1 << 20
"""Bytes held in memory at a time while streaming."""

LARGEST = 1 << 30
"""Bytes that ``get`` reads into memory at most."""

_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")
_FOLDER_MODE = 0o1777
_FILE_MODE = 0o444
_NOT_OURS = frozenset({errno.ELOOP, errno.ENOTDIR, errno.ENXIO})


class Blobs:
    """One folder of the store. ``packs`` and ``practice`` below name the two that exist."""

    def __init__(self, folder: Path, suffix: str) -> None:
        self.folder = folder
        self.suffix = suffix

    def prepare(self) -> None:
        """Make all 256 folders at once, so that whoever sets the machine up owns them and no identity does."""
        _make_sticky(self.folder)
        for number in range(256):
            _make_sticky(self.folder / f"{number:02x}")

    def path(self, digest: str) -> Path:
        """Where the blob lies or would lie. For reports and mounts; reading goes through ``get`` and ``chunks``."""
        name = _hex(digest)
        return self.folder / name[:2] / f"{name}{self.suffix}"

    def has(self, digest: str) -> bool:
        try:
            return stat.S_ISREG(self.path(digest).lstat().st_mode)
        except FileNotFoundError:
            return False

    def put(self, data: bytes) -> str:
        """Store ``data`` and return its digest. Storing the same bytes again changes nothing."""
        digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
        if not self.has(digest):
            return self.put_stream(io.BytesIO(data))
        self._verify(digest)
        return digest

    def put_stream(self, source: BinaryIO) -> str:
        """Like ``put`` for a stream of any length, in flat memory."""
        _make_sticky(self.folder)
        with _folder(self.folder) as root:
            temporary = f".{secrets.token_hex(16)}.part"
            try:
                digest = _write(root, temporary, source)
                self._publish(root, temporary, digest)
            finally:
                with suppress(FileNotFoundError):
                    os.unlink(temporary, dir_fd=root)
        return digest

    def get(self, digest: str, *, limit: int = LARGEST) -> bytes:
        """The verified bytes. ``LookupError`` where there are none, ``IntegrityError`` where they are not they."""
        with self._open(digest) as file:
            data = file.read(limit + 1)
        if len(data) > limit:
            raise IntegrityError(f"{digest}: the stored file is larger than {limit} bytes")
        if hashlib.sha256(data).hexdigest() != _hex(digest):
            raise IntegrityError(f"{digest}: the stored bytes have another digest")
        return data

    def chunks(self, digest: str) -> Iterator[bytes]:
        """The bytes piece by piece. The whole file is verified before the first piece leaves, and again at the end,
        so that a receiver has never been sent false bytes by a file that was false when asked for."""
        with self._open(digest) as file:
            _check(file, digest)
            file.seek(0)
            hasher = hashlib.sha256()
            while piece := file.read(CHUNK):
                hasher.update(piece)
                yield piece
            if hasher.hexdigest() != _hex(digest):
                raise IntegrityError(f"{digest}: the stored bytes changed while they were read")

    def _publish(self, root: int, temporary: str, digest: str) -> None:
        """Give the temporary file its name. A link, not a rename: it can't replace what already lies there."""
        name = _hex(digest)
        _make_sticky(self.folder / name[:2])
        with _folder(name[:2], within=root) as parent:
            try:
                os.link(temporary, f"{name}{self.suffix}", src_dir_fd=root, dst_dir_fd=parent, follow_symlinks=False)
            except FileExistsError:
                self._verify(digest)
            os.fsync(parent)

    def _verify(self, digest: str) -> None:
        with self._open(digest) as file:
            _check(file, digest)

    @contextmanager
    def _open(self, digest: str) -> Iterator[io.BufferedReader]:
        name = _hex(digest)
        try:
            with _folder(self.folder) as root, _folder(name[:2], within=root) as parent:
                descriptor = os.open(f"{name}{self.suffix}", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=parent)
        except FileNotFoundError:
            raise LookupError(f"{digest}: not in the store") from None
        except OSError as error:
            if error.errno in _NOT_OURS:
                raise IntegrityError(f"{digest}: a link or a folder lies where the file should be") from error
            raise
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise IntegrityError(f"{digest}: not a regular file")
            yield file


def packs(store: Path) -> Blobs:
    """Sealed packs. Their digest is that of the sealed bytes."""
    return Blobs(store / "packs", ".age")


def practice(store: Path) -> Blobs:
    """Open packs of practice items."""
    return Blobs(store / "practice", ".jsonl")


def _hex(digest: str) -> str:
    match = _DIGEST.fullmatch(digest)
    if match is None:
        raise Misuse("a blob is named by sha256: and 64 lower-case hexadecimal digits")
    return match[1]


def _check(file: io.BufferedReader, digest: str) -> None:
    if hashlib.file_digest(file, "sha256").hexdigest() != _hex(digest):
        raise IntegrityError(f"{digest}: the stored bytes have another digest")


def _make_sticky(folder: Path) -> None:
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        return
    folder.chmod(_FOLDER_MODE)  # mkdir's own mode is cut by the umask


@contextmanager
def _folder(path: Path | str, within: int | None = None) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=within)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _write(root: int, name: str, source: BinaryIO) -> str:
    """Fill the new file ``name`` inside ``root``, synced and read-only. Returns the digest of what is in it."""
    hasher = hashlib.sha256()
    descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=root)
    with os.fdopen(descriptor, "wb") as file:
        while piece := source.read(CHUNK):
            hasher.update(piece)
            file.write(piece)
        file.flush()
        os.fchmod(descriptor, _FILE_MODE)
        os.fsync(descriptor)
    return f"sha256:{hasher.hexdigest()}"
