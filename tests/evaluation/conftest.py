"""Processes of the installation stay up between tests of this folder; rows do not."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.processes import EVALUATING, start, stop


@pytest.fixture
def evaluating(database: None) -> None:
    """Everything that evaluates, running. A test that killed something left it to the next to start it again."""
    start(*EVALUATING)


@pytest.fixture(scope="session", autouse=True)
def stopped_in_the_end() -> Iterator[None]:
    yield
    stop(*EVALUATING, "web")
