"""Opens an uploaded folder: plain files only, each opened once, never through a link, never one that could block."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from evaluator.errors import Finding, Refused
from evaluator.intake import names
from evaluator.intake.limits import Limits
from evaluator.intake.report import OpenFile

CHUNK = 1 << 20
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True)
class Listing:
    files: dict[str, OpenFile]
    findings: list[Finding]


@contextlib.contextmanager
def opened(folder: Path, limits: Limits) -> Iterator[Listing]:
    """The folder's plain files, open for reading until the block ends, and what is wrong with names and kinds.

    Raises ``Refused`` where it is no folder or holds too much.
    """
    with contextlib.ExitStack() as stack:
        try:
            at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError, OSError) as error:
            problem = f"This is not a folder that can be read ({os.strerror(error.errno or 0)})."
            raise Refused.one("not-a-folder", folder.name, problem, "Give the checkpoint's own folder.") from None
        stack.callback(os.close, at)
        present = _listed(at, folder.name, limits)
        files: dict[str, OpenFile] = {}
        findings = names.check(present)
        for name in present:
            found = _open(at, name)
            if isinstance(found, Finding):
                findings = [other for other in findings if other.where != found.where] + [found]
            else:
                stack.callback(os.close, found.fd)
                files[name] = found
        findings += _too_large(files, limits)
        yield Listing(files, findings)


def stamp(file: OpenFile) -> tuple[int, int, int]:
    """Changes whenever anybody writes to the file."""
    status = os.fstat(file.fd)
    return (status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def digests(file: OpenFile, prefix: int) -> tuple[str, str]:
    """SHA-256 of the whole file and of its first ``prefix`` bytes, in one pass, from the descriptor that was judged."""
    whole, first = hashlib.sha256(), hashlib.sha256()
    offset = 0
    while chunk := os.pread(file.fd, CHUNK, offset):
        whole.update(chunk)
        first.update(chunk[: max(0, prefix - offset)])
        offset += len(chunk)
    return whole.hexdigest(), first.hexdigest()


def _listed(at: int, folder: str, limits: Limits) -> list[str]:
    found = []
    with os.scandir(at) as entries:
        for entry in entries:
            found.append(entry.name)
            if len(found) > limits.files:
                problem = f"The folder holds more than {limits.files} files."
                raise Refused.one("too-many-files", folder, problem, "Upload the checkpoint's own files only.")
    if not found:
        raise Refused.one("empty-folder", folder, "The folder is empty.", "Upload the checkpoint's files.")
    return sorted(found)


def _open(at: int, name: str) -> OpenFile | Finding:
    """Looks before opening, and again after: what was opened is what was looked at."""
    where = names.shown(name)
    status = os.stat(name, dir_fd=at, follow_symlinks=False)
    if (finding := _kind(where, status)) is not None:
        return finding
    try:
        fd = os.open(name, _OPEN, dir_fd=at)
    except OSError as error:
        problem = f"The file can't be opened ({os.strerror(error.errno or 0)})."
        return Finding("unreadable", where, problem, "Upload it again.")
    after = os.fstat(fd)
    if (after.st_dev, after.st_ino) != (status.st_dev, status.st_ino) or not stat.S_ISREG(after.st_mode):
        os.close(fd)
        return Finding("changed", where, "The file was exchanged while it was opened.", "Upload it again.")
    return OpenFile(name, fd, after.st_size)


def _kind(where: str, status: os.stat_result) -> Finding | None:
    if stat.S_ISLNK(status.st_mode):
        problem = "This is a symbolic link; links are never followed."
        return Finding("symlink", where, problem, "Upload the file it points to, under this name.")
    if stat.S_ISDIR(status.st_mode):
        problem = "This is a folder; a checkpoint is one flat folder of files."
        return Finding("sub-folder", where, problem, "Delete it, or upload the folder that holds config.json itself.")
    if not stat.S_ISREG(status.st_mode):
        problem = "This is not a file but a pipe, socket or device."
        return Finding("special-file", where, problem, "Delete it.")
    if status.st_nlink > 1:
        problem = f"The file has {status.st_nlink} names (hard links); somebody could change it under another name."
        return Finding("hard-link", where, problem, "Upload a copy of its own.")
    return None


def _too_large(files: dict[str, OpenFile], limits: Limits) -> list[Finding]:
    total = sum(file.size for file in files.values())
    if total <= limits.total_bytes:
        return []
    largest = max(files.values(), key=lambda file: file.size)
    problem = f"The files have {total} bytes in all; at most {limits.total_bytes} are taken."
    return [Finding("too-large", largest.name, problem, "Submit a smaller model, or ask the operators for more room.")]
