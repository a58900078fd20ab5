"""The guest images, built without a network from three things: Debian packages, a folder of wheels, our guest code.

    heldout-deps-ENGINE    the packages of sandboxes/images.lock and the wheels of requirements/guest-ENGINE.txt,
                           written as one tar stream straight into the engine
    heldout-guest-ENGINE   + sandboxes/, as the guest's user

Each carries the digest of its inputs as a label; an image whose label still fits is not built again. The engine's
own digests are this machine's, so they stand in var/images.json, which the launcher and provenance read.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from box import engine, environments, rootfs, wheels
from box.progress import step
from box.state import REPOSITORY, State, alone, folder, write_whole

ENGINES = ("transformers", "vllm")
RECIPE = REPOSITORY / "sandboxes" / "images" / "guest.Dockerfile"
LABEL = "heldout.inputs"
PATH_FILE = "/opt/heldout\n/opt/heldout/site-packages\n"


def ensure(state: State, guest: str) -> str:
    """The digest of this engine's guest image, built first if any of its inputs changed. One builder at a time."""
    with alone(folder(wheels.cache()) / f"{guest}.lock"):
        return _ensure(state, guest)


def _ensure(state: State, guest: str) -> str:
    lock = environments.lock_file(f"guest-{guest}")
    deps_inputs = _digest(rootfs.inputs(guest), lock.read_bytes())
    deps = _image("deps", guest, deps_inputs, lambda name: _deps(state, guest, deps_inputs, name))
    inputs = _digest(deps.encode(), RECIPE.read_bytes(), *_guest_code())
    image = _image("guest", guest, inputs, lambda name: _guest(deps, inputs, name))
    _record(state, guest, {"name": _name("guest", guest), "id": image, "deps": deps, "inputs": inputs,
                           "requirements": environments.lock_digest(f"guest-{guest}")})  # fmt: skip
    return image


def recorded(state: State) -> dict[str, Any]:
    """What var/images.json says: per engine the image's digest and those of its inputs."""
    path = state.root / "images.json"
    found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return found


def _name(layer: str, guest: str) -> str:
    return f"heldout-{layer}-{guest}"


def _image(layer: str, guest: str, inputs: str, build: Callable[[str], None]) -> str:
    """The digest of one image, built unless one with these inputs exists.

    The tag is the inputs' digest, so that two clones on one machine never take an image from each other; ``latest``
    is for people.
    """
    name = _name(layer, guest)
    found = _labelled(name, inputs)
    if not found:
        build(f"{name}:{inputs[:16]}")
        engine.docker("tag", f"{name}:{inputs[:16]}", f"{name}:latest")
        found = _labelled(name, inputs)
    return found


def _labelled(name: str, inputs: str) -> str:
    """The image under this tag, if its label says the same."""
    shown = engine.docker(
        "image", "ls", "--no-trunc", "--quiet", f"--filter=label={LABEL}={inputs}", f"{name}:{inputs[:16]}"
    )
    return shown.strip()


def _deps(state: State, guest: str, inputs: str, name: str) -> None:
    base, found = rootfs.build(guest), wheels.ensure(state, f"guest-{guest}")
    environments.ensure(state, "web")
    with tempfile.TemporaryDirectory(prefix="heldout-image-") as scratch:
        packages = Path(scratch) / "site-packages"
        with step(f"unpacking {sum(1 for _ in found.iterdir())} wheels for {guest}"):
            wheels.unpack(state, found, packages)
        with step(f"image {name}"):
            change = f"--change=LABEL {LABEL}={inputs}"
            engine.docker_reading(lambda pipe: rootfs.join(base, packages, pipe), "import", change, "-", name)


def _guest(deps: str, inputs: str, name: str) -> None:
    with tempfile.TemporaryDirectory(prefix="heldout-image-") as scratch:
        _guest_folder(Path(scratch))
        options = (f"--build-arg=DEPS={deps}", f"--label={LABEL}={inputs}", f"--file={RECIPE}", f"--tag={name}")
        with step(f"image {name}"):
            engine.docker("build", "--quiet", "--network=none", "--no-cache", *options, scratch)


def _guest_folder(target: Path) -> None:
    (target / "heldout.pth").write_text(PATH_FILE)
    for source in _guest_files():
        copy = target / source.relative_to(REPOSITORY)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, copy)
    for path in [target, *target.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
        os.utime(path, (0, 0))


def _guest_files() -> list[Path]:
    """Python files of sandboxes/, in a fixed order: the only code of ours that a guest holds."""
    return sorted((REPOSITORY / "sandboxes").rglob("*.py"))


def _guest_code() -> Iterable[bytes]:
    for path in _guest_files():
        yield str(path.relative_to(REPOSITORY)).encode()
        yield path.read_bytes()


def _digest(*parts: bytes) -> str:
    """One digest over parts of any length: each part is hashed alone first, so that none can lean on its neighbour."""
    whole = hashlib.sha256()
    for part in parts:
        whole.update(hashlib.sha256(part).digest())
    return whole.hexdigest()


def _record(state: State, guest: str, facts: dict[str, str]) -> None:
    known = recorded(state) | {guest: facts}
    write_whole(state.root / "images.json", json.dumps(known, indent=2, sort_keys=True) + "\n")
