"""Search for a canary: a word planted in hidden items that must be found nowhere outside their sealed packs.

A leak need not be literal, so each search looks for the word as it is, as UTF-16, in hexadecimal, and in base64 at all
three offsets; files that gzip has packed are searched unpacked too. Give the canary letters and digits alone, at least
twelve: ``make`` does.

    canary = make()
    assert not in_files(canary, [state / "log", state / "store"])
    assert not in_output(canary, ["pg_dump", …])
    assert not in_processes(canary)

What it does not see: encryption, compression other than gzip, a word cut in two. The sealed packs themselves pass
because they are encrypted, which is what is to be shown.
"""

from __future__ import annotations

import base64
import gzip
import os
import secrets
import subprocess
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

CHUNK = 1 << 20
_GZIP = b"\x1f\x8b"


class Sighting(NamedTuple):
    """Where the canary was found, and in which spelling."""

    place: str
    spelling: str


def make() -> str:
    return f"canary{secrets.token_hex(12)}"


def in_files(canary: str, roots: Iterable[Path]) -> list[Sighting]:
    """Every file below ``roots`` that holds the canary, names included. Links are not followed."""
    return [found for path in _files(roots) for found in _in_file(canary, path)]


def in_output(canary: str, command: Sequence[str], env: Mapping[str, str] | None = None) -> list[Sighting]:
    """The canary in what ``command`` prints (a dump, an image, a log). The command must succeed."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=env) as process:
        assert process.stdout is not None
        found = _in_stream(canary, process.stdout, " ".join(command[:3]))
    assert process.returncode == 0, f"{command[0]} failed, so nothing can be said about its output"
    return found


def in_processes(canary: str) -> list[Sighting]:
    """The canary in the arguments or environment of any process that this user may look at."""
    places = [path / name for path in Path("/proc").glob("[0-9]*") for name in ("cmdline", "environ")]
    return [found for place in places for found in _in_file(canary, place)]


def in_bytes(canary: str, data: bytes, place: str = "bytes") -> list[Sighting]:
    return [Sighting(place, spelling) for spelling, text in _spellings(canary).items() if text in data.lower()]


def _files(roots: Iterable[Path]) -> Iterator[Path]:
    for root in roots:
        if root.is_file():
            yield root
        for folder, _, names in os.walk(root):
            yield from (Path(folder) / name for name in names)


def _in_file(canary: str, path: Path) -> list[Sighting]:
    found = in_bytes(canary, os.fsencode(path.name), f"name of {path}")
    try:
        if path.is_symlink() or not (path.is_file() or path.is_relative_to("/proc")):
            return found
        with path.open("rb") as file:
            return found + _in_stream(canary, file, str(path)) + _in_packed(canary, path)
    except (FileNotFoundError, PermissionError, ProcessLookupError):
        return found  # gone, ended or not ours to see


def _in_packed(canary: str, path: Path) -> list[Sighting]:
    with path.open("rb") as file:
        if file.read(2) != _GZIP:
            return []
    try:
        with gzip.open(path) as unpacked:
            return _in_stream(canary, unpacked, f"{path} unpacked")  # type: ignore[arg-type]
    except (OSError, EOFError, zlib.error):
        return []


def _in_stream(canary: str, stream: BinaryIO, place: str) -> list[Sighting]:
    """One pass in flat memory; chunks overlap, so that no spelling is cut at a border."""
    spellings = _spellings(canary)
    found: set[str] = set()
    kept = b""
    while piece := stream.read(CHUNK):
        window = kept + piece.lower()
        found |= {name for name, text in spellings.items() if name not in found and text in window}
        kept = window[-6 * len(canary) :]
    return [Sighting(place, name) for name in sorted(found)]


def _spellings(canary: str) -> dict[str, bytes]:
    """In lower case, like what is searched: a regular expression that ignores case is fifty times slower."""
    raw = canary.encode("ascii")
    spelled = {
        "plain": raw,
        "utf-16": canary.encode("utf-16-le"),
        "hexadecimal": raw.hex().encode(),
        **{f"base64 at offset {offset}": _base64_core(raw, offset) for offset in range(3)},
    }
    return {name: text.lower() for name, text in spelled.items()}


def _base64_core(raw: bytes, offset: int) -> bytes:
    """The characters of base64 that only ``raw`` decides, when ``offset`` bytes stand before it in a group of three."""
    encoded = base64.b64encode(bytes(offset) + raw)
    whole = (offset + len(raw)) // 3 * 4
    return encoded[4 if offset else 0 : whole]
