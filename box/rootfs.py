"""The base of the guest images: a few Debian packages, unpacked into a tar file. No registry is asked."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from pathlib import Path
from typing import Any

from box import debian, wheels
from box.progress import Missing, say, step
from box.state import REPOSITORY, folder

LOCK = REPOSITORY / "sandboxes" / "images.lock"


def specification() -> dict[str, Any]:
    """The pinned inputs of all images."""
    found: dict[str, Any] = json.loads(LOCK.read_text())
    return found


def build(guest: str) -> Path:
    """The tar file of this guest's base, kept between clones under the digest of its inputs."""
    base, packages = specification()["base"], specification()["guests"][guest]["packages"]
    key = hashlib.sha256(json.dumps([base, packages], sort_keys=True).encode()).hexdigest()[:16]
    wanted = folder(wheels.cache() / "rootfs") / f"{key}.tar"
    if not wanted.exists():
        beside = wanted.with_name(f"{key}.{os.getpid()}.tar")
        with step(f"base of the {guest} image: {len(packages)} Debian packages"):
            _mmdebstrap(base, packages, beside)
        beside.rename(wanted)
    return wanted


def _mmdebstrap(base: dict[str, Any], packages: list[str], target: Path) -> None:
    program = debian.require("mmdebstrap", "mmdebstrap", "base images without a registry")
    removed = " ".join(f'"$1"/{path}' for path in base["removed"])
    command = (
        program, "--quiet", f"--variant={base['variant']}", f"--include={','.join(packages)}",
        f"--customize-hook=rm -rf {removed}",
        '--customize-hook=find "$1" -xdev -perm /6000 -exec chmod a-s {} +',
        '--customize-hook=mkdir -p "$1"/usr/lib/python3/dist-packages "$1"/tmp',
        '--customize-hook=test -e "$1"/bin/sh || test ! -e "$1"/bin/dash || ln -s dash "$1"/bin/sh',
        base["suite"], str(target), *_mirror(base["suite"]),
    )  # fmt: skip
    done = subprocess.run(command, env=_environment(), capture_output=True, text=True, check=False)
    if done.returncode:
        say(done.stderr)
        raise Missing("mmdebstrap could not make the base of the guest images: see the lines above.")


def _mirror(suite: str) -> list[str]:
    """The mirror that this machine's apt already uses for this suite; else mmdebstrap's own default."""
    command = ("apt-get", "indextargets", "--format", "$(REPO_URI) $(CODENAME) $(COMPONENT)", "Created-By: Packages")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = [line.split() for line in done.stdout.splitlines()]
    return [uri for uri, codename, component in found if codename == suite and component == "main"][:1]


def _environment() -> dict[str, str]:
    """A fixed date, so that the same packages give the same bytes."""
    return dict(os.environ) | {"SOURCE_DATE_EPOCH": "1700000000", "LC_ALL": "C.UTF-8"}
