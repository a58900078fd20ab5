"""A whole state of its own for the box's tests: own keys, own PostgreSQL, own Valkey, the shared environments."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from box import environments, keys, layout, postgres, valkey
from box.state import State, here


@pytest.fixture(scope="session")
def state() -> Iterator[State]:
    root = Path(tempfile.mkdtemp(prefix="heldout-box-"))
    root.chmod(0o755)
    environments.ensure(here(), "web")
    (root / "env").symlink_to(here().root / "env")
    made = State(root, separate=os.geteuid() == 0)
    layout.ensure(made)
    keys.ensure(made)
    yield made
    postgres.stop(made)
    valkey.stop(made)
    shutil.rmtree(root)


@pytest.fixture(scope="session")
def broker(state: State) -> State:
    valkey.start(state)
    return state


@pytest.fixture(scope="session")
def database(state: State) -> State:
    postgres.start(state)
    return state
