"""A folder on its way to the server: names first, then bytes in parts, each acknowledged by its offset."""

from __future__ import annotations

import base64
import time
from pathlib import Path
from typing import Any

from leaderboard.client.endings import ServerTrouble, WasRefused
from leaderboard.client.session import Session, findings_text
from leaderboard.client.showing import Meter

PART = 8 * 1024 * 1024
TUS = {"Tus-Resumable": "1.0.0"}
PATIENCE = (1, 2, 4, 8, 16, 30)
"""Seconds between tries while the server can't be reached."""


def files_of(folder: Path) -> dict[str, Path]:
    """Every file below the folder by its path in it. The server takes flat folders only, and says so."""
    if not folder.is_dir():
        raise WasRefused(f"{folder} is not a folder.")
    return {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}


def accepted(session: Session, files: dict[str, Path], leave_out: bool) -> dict[str, Path]:
    """What the check would refuse by name alone ends the upload before it starts, unless it may be left out."""
    refused: dict[str, list[dict[str, str]]] = session.post("/api/names", {"names": list(files)})["names"]
    if refused and not leave_out:
        text = findings_text([finding for findings in refused.values() for finding in findings])
        raise WasRefused(f"{text}\nNothing was sent. --leave-out sends the rest.")
    return {name: path for name, path in files.items() if name not in refused}


def send(session: Session, upload: dict[str, Any], files: dict[str, Path], meter: Meter) -> None:
    """Everything that is not there yet; a file that the upload knows goes on where it stands."""
    known = {file["name"]: file for file in upload["files"]}
    for name, path in files.items():
        size = path.stat().st_size
        if name in known and known[name]["size"] != size:
            raise WasRefused(f"{name}: it has another size than when the upload began. Start a new upload.")
        location = known[name]["location"] if name in known else create(session, upload["create"], name, size)
        _send_file(session, location, path, size, meter)


def create(session: Session, path: str, name: str, size: int) -> str:
    metadata = f"filename {base64.b64encode(name.encode()).decode()}"
    answer = session.ask("POST", path, b"", TUS | {"Upload-Length": str(size), "Upload-Metadata": metadata})
    if answer.status == 409:
        raise WasRefused(answer.json()["detail"])
    return str(answer.headers["Location"])


def _send_file(session: Session, location: str, path: Path, size: int, meter: Meter) -> None:
    at, tries = _offset(session, location), 0
    with path.open("rb") as source:
        while True:
            meter.show(path.name, at, size)
            if at >= size:
                return
            source.seek(at)
            try:
                at, tries = _send_part(session, location, at, source.read(PART)), 0
            except ServerTrouble:
                if tries == len(PATIENCE):
                    raise
                time.sleep(PATIENCE[tries])
                tries += 1


def _send_part(session: Session, location: str, at: int, part: bytes) -> int:
    headers = TUS | {"Upload-Offset": str(at), "Content-Type": "application/offset+octet-stream"}
    answer = session.ask("PATCH", location, part, headers)
    reached = answer.headers.get("Upload-Offset")
    if reached is None:
        raise WasRefused(answer.json()["detail"])
    return int(reached)


def _offset(session: Session, location: str) -> int:
    return int(session.ask("HEAD", location, headers=TUS).headers["Upload-Offset"])
