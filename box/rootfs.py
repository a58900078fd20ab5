"""The base of the guest images: a few Debian packages, unpacked into a tar file. No registry is asked."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import tarfile
from pathlib import Path
from typing import IO, Any

from box import debian, wheels
from box.progress import Missing, say, step
from box.state import REPOSITORY, folder

SITE = "opt/heldout/site-packages"
PROGRAM_FOLDERS = frozenset({"bin", "sbin", "usr/bin", "usr/sbin"})
LOCK = REPOSITORY / "sandboxes" / "images.lock"


def specification() -> dict[str, Any]:
    """The pinned inputs of all images."""
    found: dict[str, Any] = json.loads(LOCK.read_text())
    return found


def inputs(guest: str) -> bytes:
    """What one guest's base is made from, as bytes to hash."""
    whole = specification()
    own = {key: whole["guests"][guest][key] for key in ("packages", "programs")}
    return json.dumps([whole["base"], own], sort_keys=True).encode()


def build(guest: str) -> Path:
    """The tar file of this guest's base, kept between clones under the digest of its inputs."""
    pinned = inputs(guest)
    key = hashlib.sha256(pinned).hexdigest()[:16]
    base, own = json.loads(pinned)
    wanted = folder(wheels.cache() / "rootfs") / f"{key}.tar"
    if not wanted.exists():
        whole, beside = (wanted.with_name(f"{key}.{os.getpid()}.{part}") for part in ("whole", "beside"))
        with step(f"base of the {guest} image: {len(own['packages'])} Debian packages"):
            _mmdebstrap(base, own["packages"], whole)
            strip(whole, beside, base["removed"], own["programs"])
        whole.unlink()
        beside.rename(wanted)
    return wanted


def _mmdebstrap(base: dict[str, Any], packages: list[str], target: Path) -> None:
    program = debian.require("mmdebstrap", "mmdebstrap", "base images without a registry")
    mode = "root" if os.geteuid() == 0 else "chrootless"  # unpacking runs nothing of what it unpacks
    command = (
        program, "--quiet", f"--mode={mode}", f"--variant={base['variant']}", f"--include={','.join(packages)}",
        "--format=tar", base["suite"], str(target), *_mirror(base["suite"]),
    )  # fmt: skip
    done = subprocess.run(command, env=_environment(), capture_output=True, text=True, check=False)
    if done.returncode:
        target.unlink(missing_ok=True)
        say(done.stderr)
        raise Missing("mmdebstrap could not make the base of the guest images: see the lines above.")


def strip(whole: Path, target: Path, removed: list[str], programs: list[str]) -> None:
    """Copy a root file system without the removed paths, without other programs, without setuid bits."""
    with tarfile.open(whole) as source, tarfile.open(target, "w") as kept:
        for member in source:
            if _unwanted(member, removed, programs):
                continue
            member.mode &= 0o1777
            member.uid = member.gid = 0
            member.uname = member.gname = "root"
            kept.addfile(member, source.extractfile(member) if member.isfile() else None)
        if "dash" in programs:
            kept.addfile(_link("./bin/sh", "dash"))


def join(base: Path, packages: Path, pipe: IO[bytes]) -> None:
    """Write the base and, below ``SITE``, a folder of packages as one tar stream; everything belongs to root."""
    with tarfile.open(base) as source, tarfile.open(fileobj=pipe, mode="w|", bufsize=1 << 20) as joined:
        for member in source:
            joined.addfile(member, source.extractfile(member) if member.isfile() else None)
        joined.add(packages, SITE, filter=_owned_by_root)


def _owned_by_root(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = "root"
    member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
    return member


def _unwanted(member: tarfile.TarInfo, removed: list[str], programs: list[str]) -> bool:
    path = member.name.removeprefix("./")
    folder_name, _, name = path.rpartition("/")
    if folder_name in PROGRAM_FOLDERS and not member.isdir():
        return name not in programs
    return member.isdev() or any(path == gone or path.startswith(f"{gone}/") for gone in removed)


def _link(name: str, target: str) -> tarfile.TarInfo:
    link = tarfile.TarInfo(name)
    link.type, link.linkname, link.mode = tarfile.SYMTYPE, target, 0o777
    return link


def _mirror(suite: str) -> list[str]:
    """The mirror that this machine's apt already uses for this suite; else mmdebstrap's own default."""
    command = ("apt-get", "indextargets", "--format", "$(REPO_URI) $(CODENAME) $(COMPONENT)", "Created-By: Packages")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = [line.split() for line in done.stdout.splitlines()]
    return [uri for uri, codename, component in found if codename == suite and component == "main"][:1]


def _environment() -> dict[str, str]:
    """A fixed date, so that the same packages give the same bytes."""
    return dict(os.environ) | {"SOURCE_DATE_EPOCH": "1700000000", "LC_ALL": "C.UTF-8"}
