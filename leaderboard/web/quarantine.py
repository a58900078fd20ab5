"""Uploaded bytes until their check has ended: in quarantine, under names of ours.

A client's file name is never part of a path here. Files get their real names, in the folder that the check needs,
after each name matched a strict pattern.
"""

from __future__ import annotations

import os
import re
import shutil
import uuid
from collections.abc import Iterable
from pathlib import Path

from django.conf import settings

from evaluator.errors import Refused

NAME = re.compile(r"[A-Za-z0-9._-]{1,200}")
"""Of a checkpoint's file: no separators, no spaces, nothing that a shell or a terminal reads."""


def check_name(untrusted_name: str) -> str:
    """The name, if it is one that a flat folder can hold."""
    if "/" in untrusted_name or "\\" in untrusted_name:
        raise Refused.one(
            "file-path", printable(untrusted_name), "The name leads into another folder.",
            "A checkpoint is one flat folder: move the file to its top level, or leave it out.",
        )  # fmt: skip
    if not NAME.fullmatch(untrusted_name) or set(untrusted_name) == {"."}:
        raise Refused.one(
            "file-name", printable(untrusted_name), "The name holds characters that we do not take.",
            "Rename it: letters, digits, dot, dash and underscore, at most 200.",
        )  # fmt: skip
    return untrusted_name


def printable(untrusted_name: str) -> str:
    """For messages: short, one line, no control characters."""
    return ascii(untrusted_name[:80])[1:-1]


def _folder(upload_id: uuid.UUID) -> Path:
    return Path(settings.INTAKE) / str(upload_id)


def write(upload_id: uuid.UUID, file_id: uuid.UUID, at: int, chunks: Iterable[bytes], limit: int) -> int:
    """Write at most ``limit`` bytes at offset ``at`` and force them to disk; the number written.

    Whatever lay behind ``at`` was never acknowledged and is cut off. The caller holds the file's row, so that no two
    write at once.
    """
    _folder(upload_id).mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(_folder(upload_id) / str(file_id), os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb", buffering=0) as out:
        out.truncate(at)
        out.seek(at)
        count = 0
        for chunk in chunks:
            count += len(chunk)
            if count > limit:
                out.truncate(at)
                raise Refused.one(
                    "file-longer", "upload", "More bytes came than were announced.", "Announce the file's true size."
                )
            out.write(chunk)
        os.fdatasync(out.fileno())
    return count


def assemble(upload_id: uuid.UUID, files: Iterable[tuple[uuid.UUID, str]]) -> Path:
    """A folder in which each file has its real name. Moved, not linked: a second name would be a second way in.

    A check that died half-way is repeated: what was moved already stays where it is.
    """
    named = _folder(upload_id) / "named"
    named.mkdir(mode=0o700, parents=True, exist_ok=True)
    for file_id, name in files:
        source, target = _folder(upload_id) / str(file_id), named / check_name(name)
        if source.exists():
            source.rename(target)
        target.touch(mode=0o600)  # a file of no bytes was never written
    return named


def drop(upload_id: uuid.UUID) -> None:
    """The upload has ended either way: its quarantine goes."""
    shutil.rmtree(_folder(upload_id), ignore_errors=True)
