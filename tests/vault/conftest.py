"""One set of keys for all tests of the vault; making keys is quick, but not free."""

from __future__ import annotations

import pytest

from tests import keyrings


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> keyrings.Keys:
    return keyrings.make(tmp_path_factory.mktemp("keys"))
