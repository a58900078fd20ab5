"""One small sealed run for each test; one set of keys for all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import keyrings, runs


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> keyrings.Keys:
    return keyrings.make(tmp_path_factory.mktemp("keys"))


@pytest.fixture
def run(tmp_path: Path, keys: keyrings.Keys) -> runs.Stage:
    return runs.stage(tmp_path, keys)
