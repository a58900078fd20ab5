"""The images that the tests of this folder run."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import pytest

from tests.isolation.launching import image

HOSTILE = "import json, sys\nexec(json.loads(sys.stdin.buffer.readline()))\n"


@pytest.fixture(scope="session")
def hostile_image() -> str:
    """A guest that runs whatever it is sent: what a checkpoint with a hole in its engine could do at worst."""
    base = image("heldout-base-transformers")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "main.py").write_text(HOSTILE)
        (folder / "init.py").write_text("")
        recipe = (
            f"FROM {base}\nCOPY init.py {SITE}/sandboxes/__init__.py\nCOPY init.py {SITE}/sandboxes/model/__init__.py\n"
        )
        (folder / "Dockerfile").write_text(f"{recipe}COPY main.py {SITE}/sandboxes/model/__main__.py\n")
        command = ["docker", "build", "--quiet", "--network=none", "--tag=heldout-test-hostile", scratch]
        subprocess.run(command, check=True, capture_output=True, timeout=110)
    return image("heldout-test-hostile")


SITE = "/usr/lib/python3/dist-packages"


@pytest.fixture(scope="session")
def transformers_image() -> str:
    return image("heldout-guest-transformers")


@pytest.fixture(scope="session")
def vllm_image() -> str:
    return image("heldout-guest-vllm")
