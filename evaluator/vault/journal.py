"""What a run has answered so far, so that a killed worker goes on instead of starting again. The runner's alone.

    <root>/<run>/<RunSpec digest>/00000001.age, 00000002.age, …

1. A chunk appears whole or not at all and is never replaced. Where another worker has already written the number,
   ``append`` raises ``Stale``: two workers believed they owned the run, and this one is the late one.
2. Reading goes through the numbers in order. Each chunk's seal holds run, RunSpec and number, so a chunk that was
   renamed, swapped or brought from another run is an ``IntegrityError``; so is a gap.
3. Only the last chunk may be torn (a machine that lost power before its disk wrote): it is set aside and its items
   are asked again.
4. Another RunSpec has another folder: answers made under other conditions are never mixed.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import uuid
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from evaluator.errors import IntegrityError, Misuse, Stale
from evaluator.records import packs
from evaluator.records.shapes import digest_text, integer, uuid_text
from evaluator.vault import sealing
from evaluator.vault.keyring import Keyring

READERS = ("runner",)

CHUNK = packs.make_format(
    "heldout.journal/1",
    {"run": uuid_text, "runspec": digest_text, "chunk": integer(1)},
    *packs.OUTPUTS.variants,
)

LARGEST_CHUNK = 64 << 20

_NAME = re.compile(r"[0-9]{8}\.age")


class Journal:
    """The journal of one run under one RunSpec. One worker at a time writes it; the ledger's lease says which."""

    def __init__(self, root: Path, run: uuid.UUID, runspec: str, keyring: Keyring) -> None:
        if not digest_text.test(runspec):
            raise Misuse("a journal is named by the digest of a RunSpec")
        self.folder = root / str(run) / runspec.removeprefix("sha256:")
        self._head = {"run": str(run), "runspec": runspec}
        self._keyring = keyring

    def append(self, records: Iterable[Mapping[str, Any]]) -> int:
        """Seal and keep output records; they are on the disk when this returns. The chunk's number."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        number = len(self._chunks()) + 1
        plaintext = packs.write(CHUNK, {**self._head, "chunk": number}, records)
        self._keep(number, sealing.seal(plaintext, READERS, self._keyring).data)
        return number

    def read(self) -> list[dict[str, Any]]:
        """All records kept so far, oldest first. Call it once, before the first ``append`` of a worker."""
        chunks = self._chunks()
        found: list[dict[str, Any]] = []
        for number, path in enumerate(chunks, start=1):
            try:
                plaintext = sealing.unseal_unnamed(path.read_bytes(), self._keyring, limit=LARGEST_CHUNK)
            except IntegrityError:
                if number < len(chunks):
                    raise
                path.rename(path.with_suffix(f".{secrets.token_hex(4)}.torn"))
            else:
                found += self._records(number, plaintext)
        return found

    def discard(self) -> None:
        """Remove everything of the run: its outputs are sealed, or it is over."""
        with suppress(FileNotFoundError):
            shutil.rmtree(self.folder.parent)

    def _chunks(self) -> list[Path]:
        if not self.folder.is_dir():
            return []
        chunks = sorted(path for path in self.folder.iterdir() if _NAME.fullmatch(path.name))
        if chunks and chunks[-1].name != _name(len(chunks)):
            raise IntegrityError("a chunk of the journal is missing")
        return chunks

    def _records(self, number: int, plaintext: bytes) -> list[dict[str, Any]]:
        pack = packs.read(CHUNK, plaintext)
        if {key: pack.header.get(key) for key in (*self._head, "chunk")} != {**self._head, "chunk": number}:
            raise IntegrityError(f"chunk {number} of the journal belongs elsewhere")
        return list(pack.records)

    def _keep(self, number: int, data: bytes) -> None:
        temporary = self.folder / f".{secrets.token_hex(8)}.part"
        try:
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o400)
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(descriptor)
            os.link(temporary, self.folder / _name(number))
        except FileExistsError:
            raise Stale(f"chunk {number} of the journal was written by another worker") from None
        finally:
            temporary.unlink(missing_ok=True)
        _sync(self.folder)


def _name(number: int) -> str:
    return f"{number:08}.age"


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
