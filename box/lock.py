"""Write requirements/NAME.txt from requirements/NAME.in: every package of the closure, with version and hashes.

    python3 -m box.lock            all of them
    python3 -m box.lock web dev    only these

A lock names no index and no path, so it installs from any index that serves the same files. A version with a local
part (``2.13.0+cpu``, a wheel that lies on this machine) is pinned by its public version and carries the public
index's hash too: ``pip`` takes whichever of the two it finds.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from box.progress import step
from box.state import REPOSITORY

FOLDER = REPOSITORY / "requirements"

BASED_ON: dict[str, str | None] = {
    "web": None,
    "dev": "web",
    "guest-transformers": None,
    "guest-vllm": None,
}
"""Each lock, and the lock whose versions it must share. Order matters: bases come first."""

NO_DEPENDENCIES = frozenset({"guest-vllm"})
"""Locks whose .in file already is the closure, less what the guest never uses."""

HEADER = "# Made by `python3 -m box.lock {name}` from requirements/{name}.in. Do not edit.\n"


def main(names: list[str]) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        pip = _recent_pip(Path(scratch))
        for name in names or list(BASED_ON):
            with step(f"locking requirements/{name}.txt"):
                (FOLDER / f"{name}.txt").write_text(lock(pip, name))


def lock(pip: Path, name: str) -> str:
    """The text of one lock file."""
    options = ["-r", str(FOLDER / f"{name}.in"), *_constraint(pip.parent, BASED_ON[name])]
    if name in NO_DEPENDENCIES:
        options.append("--no-deps")
    pins = {_key(entry): _pin(pip, entry) for entry in _resolve(pip, options)}
    return HEADER.format(name=name) + "".join(pins[key] for key in sorted(pins))


def _recent_pip(scratch: Path) -> Path:
    """A pip that reads metadata without fetching whole wheels; the one Debian ships is older."""
    subprocess.run([sys.executable, "-m", "venv", scratch / "venv"], check=True)
    pip = scratch / "venv" / "bin" / "pip"
    subprocess.run([pip, "install", "--quiet", "--upgrade", "pip"], check=True)
    return pip


def _constraint(scratch: Path, base: str | None) -> list[str]:
    if base is None:
        return []
    pins = [line.split(" ")[0] for line in (FOLDER / f"{base}.txt").read_text().splitlines() if "==" in line]
    path = scratch / f"{base}.constraints"
    path.write_text("\n".join(pins) + "\n")
    return ["-c", str(path)]


def _resolve(pip: Path, options: list[str], env: dict[str, str] | None = None) -> list[dict[str, Any]]:
    command = [pip, "install", "--dry-run", "--ignore-installed", "--quiet", "--only-binary", ":all:", "--report", "-"]
    done = subprocess.run([*command, *options], check=True, capture_output=True, env=env)
    report: dict[str, Any] = json.loads(done.stdout)
    found: list[dict[str, Any]] = report["install"]
    return found


def _key(entry: dict[str, Any]) -> str:
    return str(entry["metadata"]["name"]).lower().replace("_", "-").replace(".", "-")


def _pin(pip: Path, entry: dict[str, Any]) -> str:
    version = str(entry["metadata"]["version"])
    public = version.partition("+")[0]
    hashes = {_sha256(entry)}
    if public != version:
        plain = {key: value for key, value in os.environ.items() if not key.startswith("PIP_")}
        wanted = ["--no-deps", f"{_key(entry)}=={public}"]
        hashes |= {_sha256(other) for other in _resolve(pip, wanted, plain | {"PIP_CONFIG_FILE": os.devnull})}
    lines = [f"{_key(entry)}=={public}", *(f"--hash=sha256:{value}" for value in sorted(hashes))]
    return " \\\n    ".join(lines) + "\n"


def _sha256(entry: dict[str, Any]) -> str:
    return str(entry["download_info"]["archive_info"]["hashes"]["sha256"])


if __name__ == "__main__":
    main(sys.argv[1:])
