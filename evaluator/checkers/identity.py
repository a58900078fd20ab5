"""Which grader this is: a digest over the source of everything that decides a grade, and what it promises.

The digest covers the files of ``evaluator.checkers``, ``evaluator.estimates`` and ``evaluator.records`` by name and
content, the version of Python's Unicode tables and the declared version. It is the same from a checkout, a wheel, an
image and any folder: only names within the package count, and line ends are those of Unix.

``REPLAY`` says whether a grade can be made again from what was stored: ``stateless`` means that it is a pure function
of outputs, answers, grader and configuration. A replay refuses anything else.
"""

from __future__ import annotations

import hashlib
import unicodedata
from functools import cache
from pathlib import Path
from typing import Literal

import evaluator
from evaluator.errors import Fault, FaultKind
from evaluator.records.canonical import digest

VERSION = "1"
"""Raised with every change after which an output may be marked otherwise. The changelog says what and why."""

REPLAY: Literal["stateless", "unsupported", "unknown"] = "stateless"

_PARTS = ("checkers", "estimates.py", "records")


@cache
def grader_digest() -> str:
    """The digest of the grader that is running."""
    return digest_of_grader(Path(evaluator.__file__).resolve().parent)


def digest_of_grader(package: Path) -> str:
    """The digest of the grader whose ``evaluator`` package lies in ``package``."""
    files = _files(package)
    if not files:
        raise Fault(FaultKind.GRADER, "source", "the grader's source files are not there to be hashed", retry=False)
    return digest(
        {
            "format": "heldout.grader/1",
            "version": VERSION,
            "replay": REPLAY,
            "unicode": unicodedata.unidata_version,
            "files": {path.relative_to(package).as_posix(): _source_digest(path) for path in files},
        }
    )


def _files(package: Path) -> list[Path]:
    found = [path for part in _PARTS for path in [package / part, *sorted((package / part).rglob("*.py"))]]
    return [path for path in found if path.suffix == ".py" and path.is_file()]


def _source_digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes().replace(b"\r\n", b"\n")).hexdigest()
