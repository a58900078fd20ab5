"""A launcher in a thread of this test, on a socket and an installation of its own, and what it may launch."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import subprocess
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from evaluator.isolation.base import LaunchFacts, Limits, Tier
from evaluator.isolation.checkpoints import folder_of
from evaluator.isolation.client import GuestStream, open_guest
from evaluator.isolation.docker_tier import DockerTier
from evaluator.isolation.launcher import Launcher

MIB = 1 << 20
NO_IMAGE = "sha256:" + "0" * 64


def image(name: str) -> str:
    """The digest of a guest image. Where there is none, a laptop skips and CI fails."""
    command = ["docker", "image", "inspect", "--format", "{{.Id}}", name]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    except FileNotFoundError:
        done = None
    if done is None or done.returncode:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"the container engine has no image {name}")
    return done.stdout.strip()


def admitted(root: Path, files: dict[str, bytes]) -> dict[str, Any]:
    """Put files where intake would have put them; the manifest."""
    entries = [
        {"name": name, "size": len(data), "sha256": hashlib.sha256(data).hexdigest()} for name, data in files.items()
    ]
    manifest = {"format": "heldout.checkpoint/1", "files": sorted(entries, key=lambda entry: str(entry["name"]))}
    folder = folder_of(root, manifest)
    folder.mkdir(parents=True)
    folder.chmod(0o755)
    for name, data in files.items():
        (folder / name).write_bytes(data)
        (folder / name).chmod(0o444)
    return manifest


def admitted_folder(root: Path, source: Path) -> dict[str, Any]:
    return admitted(root, {path.name: path.read_bytes() for path in source.iterdir()})


@dataclass
class Bench:
    """One launcher and one claimed run."""

    address: Path
    tier: Tier
    root: Path
    facts: LaunchFacts
    looked_up: list[str] = field(default_factory=list)
    launcher: Launcher = field(init=False)

    def lookup(self, run: str) -> LaunchFacts:
        self.looked_up.append(run)
        return self.facts

    def open(self, attempt: int = 1) -> GuestStream:
        return open_guest(self.address, self.facts.run, attempt)

    def started(self) -> GuestStream:
        guest = self.open()
        guest.start()
        return guest

    def running(self, code: str) -> GuestStream:
        """A hostile guest that runs this code."""
        guest = self.started()
        guest.send(json.dumps(code).encode() + b"\n")
        return guest

    def output(self, code: str) -> str:
        """What the code prints until it ends."""
        with self.running(code) as guest:
            said = b""
            while data := guest.receive(60):
                said += data
        return said.decode()


@contextmanager
def launching(
    tier: Tier | None = None,
    *,
    image_digest: str = NO_IMAGE,
    files: dict[str, bytes] | None = None,
    allowed: frozenset[int] | None = None,
    **limits: Any,
) -> Iterator[Bench]:
    with tempfile.TemporaryDirectory(prefix="heldout-launcher-") as folder:
        root = Path(folder) / "checkpoints"
        manifest = admitted(root, {"config.json": b"{}"} if files is None else files)
        bounds = replace(Limits(memory=512 * MIB, wall=60, scratch=16 * MIB), **limits)
        facts = LaunchFacts(str(uuid.uuid4()), 1, 1, manifest, "transformers", image_digest, bounds)
        tier = tier or DockerTier(secrets.token_hex(8))
        bench = Bench(Path(folder) / "launcher.sock", tier, root, facts)
        uids = frozenset({os.getuid()}) if allowed is None else allowed
        bench.launcher = Launcher(bench.address, tier, bench.lookup, root, uids)
        thread = threading.Thread(target=bench.launcher.serve_forever)
        thread.start()
        try:
            wait_for(bench.address.exists)
            yield bench
        finally:
            bench.launcher.stop()
            thread.join()
            wait_for(lambda: not tier.reap())


def wait_for(condition: Any, seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)
