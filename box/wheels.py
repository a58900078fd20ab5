"""Folders of wheels: what a lock names, fetched once by the host, checked by hash, kept for builds without a network.

A package whose lock line carries two hashes exists twice: as the public index's wheel and as a smaller build that
may lie on this machine (torch for the CPU). pip prefers the wheel whose hash an index announces, so those packages
are fetched first and alone, where pip prefers the local build, and their hash is compared here.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from box import environments
from box.progress import Missing, say, step
from box.state import REPOSITORY, State, folder

CUDA_LIBRARIES = "torch-cuda"
"""The lock of what the public torch wheel links to and the CPU build doesn't."""


def cache() -> Path:
    """Where wheels are kept between clones."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "heldout"


def ensure(state: State, lock: str) -> Path:
    """A folder with exactly the wheels of this lock; fetched beside and renamed, so a half one never counts."""
    wanted = cache() / "wheels" / environments.lock_digest(lock).removeprefix("sha256:")[:16]
    if wanted.exists():
        return wanted
    python = environments.ensure(state, "web")
    beside = wanted.with_name(f"{wanted.name}.{os.getpid()}")
    shutil.rmtree(beside, ignore_errors=True)
    folder(beside)
    with step(f"fetching the wheels of {lock}"):
        _fetch(python, lock, beside)
    beside.rename(wanted)
    return wanted


def unpack(state: State, wheels: Path, target: Path) -> None:
    """Install a folder of wheels into a plain folder, byte-compiled, readable by all; no index is asked."""
    names = sorted(str(path) for path in wheels.iterdir())
    options = ("--quiet", "--no-index", "--no-deps", "--target", str(target))
    _pip(environments.ensure(state, "web"), "install", *options, *names)


def pins(lock: Path) -> dict[str, tuple[str, list[str]]]:
    """``name==version`` of each package with its lock text and its hashes."""
    found = {}
    for block in lock.read_text().replace(" \\\n", " ").splitlines():
        if "==" in block and not block.startswith("#"):
            words = block.split()
            found[words[0]] = (block, [word.partition("sha256:")[2] for word in words if "sha256:" in word])
    return found


def _fetch(python: Path, lock: str, target: Path) -> None:
    rest = []
    for pin, (text, hashes) in pins(environments.lock_file(lock)).items():
        if len(hashes) == 1:
            rest.append(text)
        else:
            _fetch_preferring_this_machine(python, pin, hashes, target)
    _fetch_by_hash(python, rest, target)
    if any(path.name.startswith("torch-") and "+cpu" not in path.name for path in target.iterdir()):
        _fetch_by_hash(python, [text for text, _ in pins(environments.lock_file(CUDA_LIBRARIES)).values()], target)


def _fetch_preferring_this_machine(python: Path, pin: str, hashes: list[str], target: Path) -> None:
    before = set(target.iterdir())
    _pip(python, "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", str(target), pin)
    for path in set(target.iterdir()) - before:
        with path.open("rb") as wheel:
            if hashlib.file_digest(wheel, "sha256").hexdigest() not in hashes:
                raise Missing(f"{path.name} is not one of the files that the lock names for {pin}: nothing was built.")


def _fetch_by_hash(python: Path, lines: list[str], target: Path) -> None:
    wanted = target / ".wanted"
    wanted.write_text("\n".join(lines) + "\n")
    options = ("--quiet", "--no-deps", "--require-hashes", "--only-binary", ":all:", "--dest", str(target))
    _pip(python, "download", *options, "-r", str(wanted))
    wanted.unlink()


def _pip(python: Path, command: str, *arguments: str) -> None:
    done = subprocess.run(
        (str(python), "-m", "pip", command, "--disable-pip-version-check", *arguments),
        umask=0o022, cwd=REPOSITORY, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        say(done.stdout + done.stderr)
        raise Missing(f"`pip {command}` failed: see the lines above.")
