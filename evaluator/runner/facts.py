"""What the RunSpec says about this host and this code. Gathered anew for each attempt; everything by digest or name."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from evaluator.records.canonical import digest_of_bytes

_ROOT = Path(__file__).resolve().parents[2]
_SOURCES = ("leaderboard", "evaluator", "sandboxes")
_TEXT = frozenset({".py", ".sql", ".json", ".txt", ".lock", ".html"})


@lru_cache(maxsize=1)
def code_state() -> dict[str, object]:
    """Digest of our source files and locks, and the commit where there is a checkout.

    The source digest covers what runs, wherever it lies: a checkout, a wheel and an image give the same one.
    """
    return {
        "source": source_digest(_ROOT),
        "locks": {path.stem: digest_of_bytes(path.read_bytes()) for path in sorted(_ROOT.glob("requirements/*.txt"))},
        **_commit(),
    }


def source_digest(root: Path) -> str:
    """SHA-256 over the name and digest of every source file below our packages, in order of their names."""
    whole = hashlib.sha256()
    for path in _source_files(root):
        whole.update(f"{path.relative_to(root).as_posix()}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return f"sha256:{whole.hexdigest()}"


def _source_files(root: Path) -> Iterator[Path]:
    for package in _SOURCES:
        for path in sorted((root / package).rglob("*")):
            if path.suffix in _TEXT and path.is_file() and "__pycache__" not in path.parts:
                yield path


def _commit() -> dict[str, object]:
    """Commit and digest of uncommitted changes; both null outside a checkout or where git is not installed."""
    head = _git("rev-parse", "HEAD")
    if head is None:
        return {"commit": None, "dirty": None}
    difference = _git("diff", "HEAD", "--binary", "--", *_SOURCES, "requirements")
    return {"commit": head.decode().strip(), "dirty": digest_of_bytes(difference) if difference else None}


def _git(*arguments: str) -> bytes | None:
    # The clone may belong to another uid than this identity's; reading it is all that we do.
    command = ["git", "-c", f"safe.directory={_ROOT}", "-C", str(_ROOT), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, timeout=20, check=False)
    except (FileNotFoundError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def host() -> dict[str, object]:
    """Kernel, processor and memory of this machine. A host name says nothing about a score and is left out."""
    return {
        "kernel": platform.release(),
        "machine": platform.machine(),
        "cpu": _field("/proc/cpuinfo", "model name"),
        "cores": len(os.sched_getaffinity(0)),
        "memory": _kibibytes(_field("/proc/meminfo", "MemTotal")) * 1024,
        "python": platform.python_version(),
    }


def _field(path: str, name: str) -> str:
    with Path(path).open() as lines:
        for line in lines:
            key, _, value = line.partition(":")
            if key.strip() == name:
                return value.strip()
    return ""


def _kibibytes(text: str) -> int:
    return int(text.split(maxsplit=1)[0]) if text else 0


def isolation(config: Mapping[str, object]) -> dict[str, object]:
    """Whether identities are operating-system users of their own on this machine."""
    return {"separate_users": config.get("uid_base") is not None, "runner_uid": os.getuid()}
