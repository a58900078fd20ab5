"""The version of this software: the newest heading of CHANGELOG.md, so that a release can't forget its notes."""

from __future__ import annotations

import re
from pathlib import Path

_HEADING = re.compile(r"^## (\d+\.\d+\.\d+)", re.MULTILINE)


def _newest() -> str:
    found = _HEADING.search((Path(__file__).resolve().parents[1] / "CHANGELOG.md").read_text())
    if found is None:
        raise RuntimeError("CHANGELOG.md names no version")
    return found[1]


VERSION = _newest()
