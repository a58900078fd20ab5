"""The Python environments: one folder var/env/NAME per lock, made with Debian's Python 3.11 from hash-locked wheels.

An environment can't be moved, so it can't be built beside and renamed: a stamp with the digest of its lock is written
last, and an environment without the right stamp is built again from nothing. The repository is on the path of each
through a .pth file, so code and environment are never out of step.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

from box import debian
from box.progress import Missing, say, step
from box.state import REPOSITORY, State, alone, folder

DEBIAN_PYTHON = Path("/usr/bin/python3.11")
"""Other Unix users must be able to run it; a Python below somebody's home folder is often closed to them."""

STAMP = "lock.digest"


def ensure(state: State, name: str) -> Path:
    """The environment's python, built first if its lock changed. Safe to call from several processes at once."""
    environment = state.env(name)
    wanted = lock_digest(name)
    folder(environment.parent)
    with alone(environment.parent / f".{name}.lock"):
        if stamp(state, name) != wanted:
            with step(f"environment {name}: {_size(name)} packages"):
                _build(environment, name)
                (environment / STAMP).write_text(wanted + "\n")
    return state.python(name)


def lock_digest(name: str) -> str:
    """What the environment is keyed by, and what provenance records of it."""
    return "sha256:" + hashlib.sha256(lock_file(name).read_bytes()).hexdigest()


def lock_file(name: str) -> Path:
    return REPOSITORY / "requirements" / f"{name}.txt"


def stamp(state: State, name: str) -> str:
    """The digest of the lock this environment was built from; empty when it is absent or half built."""
    path = state.env(name) / STAMP
    return path.read_text().strip() if path.exists() else ""


def _build(environment: Path, name: str) -> None:
    shutil.rmtree(environment, ignore_errors=True)
    python = environment / "bin" / "python"
    _quietly(str(host_python()), "-m", "venv", str(environment))
    _quietly(
        str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
        "--require-hashes", "--no-deps", "--only-binary", ":all:", "-r", str(lock_file(name)),
    )  # fmt: skip
    (site_packages(environment) / "heldout.pth").write_text(f"{REPOSITORY}\n")
    script = environment / "bin" / "heldout"
    script.write_text(f"#!{python}\nimport sys\n\nfrom leaderboard.client.main import main\n\nsys.exit(main())\n")
    script.chmod(0o755)


def site_packages(environment: Path) -> Path:
    return environment / "lib" / "python3.11" / "site-packages"


def host_python() -> Path:
    """Debian's Python 3.11 with a working venv module, installed first where we may."""
    found = DEBIAN_PYTHON if DEBIAN_PYTHON.exists() else Path(shutil.which("python3.11") or "")
    if not found.is_file():
        raise Missing("Python 3.11 is missing: install Debian's package python3.")
    if not _has_venv(found):
        if not debian.may_install():
            raise Missing("Python's venv module is missing: install Debian's package python3-venv.")
        debian.install("python3.11-venv")
    return found


def _has_venv(python: Path) -> bool:
    return subprocess.run([python, "-c", "import venv, ensurepip"], capture_output=True, check=False).returncode == 0


def _quietly(*command: str) -> None:
    """Run with a plain umask, so that other Unix users can read what is made; show output only on failure."""
    done = subprocess.run(command, umask=0o022, capture_output=True, text=True, check=False)
    if done.returncode:
        say(done.stdout + done.stderr)
        raise Missing(f"`{' '.join(command[:4])} …` failed: see the lines above.")


def _size(name: str) -> int:
    return sum("==" in line for line in lock_file(name).read_text().splitlines())
