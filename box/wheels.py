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
import zipfile
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
    """Lay the wheels of a folder out as one site-packages, byte-compiled, readable by all. No index is asked.

    A wheel is a zip file whose root goes to site-packages. Of what lies in its ``.data`` folder only more of the same
    is taken: a guest has no use for console scripts and headers.
    """
    python = environments.ensure(state, "web")
    for wheel in sorted(wheels.glob("*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            for member in archive.infolist():
                _lay(archive, member, target)
    command = (str(python), "-m", "compileall", "-q", "-j", "0", "--invalidation-mode", "unchecked-hash", str(target))
    subprocess.run(
        command, umask=0o022, capture_output=True, check=False
    )  # some wheels carry templates that don't compile


def _lay(archive: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path) -> None:
    parts = Path(member.filename).parts
    if member.is_dir():
        return
    if parts[0].endswith(".data"):
        if parts[1] not in {"purelib", "platlib"}:
            return
        parts = parts[2:]
    path = target.joinpath(*parts)
    if not path.resolve().is_relative_to(target.resolve()):
        raise Missing(f"{archive.filename} holds {member.filename}, which lies outside of it: nothing was built.")
    path.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(member) as source, path.open("wb") as copy:
        shutil.copyfileobj(source, copy, 1 << 20)
    path.chmod(0o755 if member.external_attr >> 16 & 0o100 else 0o644)


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
