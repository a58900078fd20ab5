"""Debian's packages: installed where we may (as root), asked for in one sentence where we may not."""

from __future__ import annotations

import os
import shutil
import subprocess

from box.progress import Missing, say, step


def require(program: str, package: str, why: str) -> str:
    """The path of a program, its Debian package installed first if need be."""
    found = shutil.which(program)
    if found is None:
        if not may_install():
            raise Missing(f"{program} is missing ({why}): install Debian's package {package}.")
        install(package)
        found = shutil.which(program)
    if found is None:
        raise Missing(f"{program} is still missing after installing {package}: look at `dpkg -L {package}`.")
    return found


def may_install() -> bool:
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


def install(*packages: str) -> None:
    """Refreshes the package lists when the first try does not know a package."""
    wanted = ("apt-get", "install", "--yes", "--no-install-recommends", *packages)
    with step(f"installing {', '.join(packages)}"):
        for command in (wanted, ("apt-get", "update"), wanted):
            done = subprocess.run(command, env=_environment(), capture_output=True, text=True, check=False)
            if command is wanted and done.returncode == 0:
                return
    say(done.stdout + done.stderr)
    raise Missing(f"Debian's packages {', '.join(packages)} could not be installed: see the lines above.")


def _environment() -> dict[str, str]:
    return dict(os.environ) | {"DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"}
