"""Fixtures that every folder of tests may use."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django.plugin import DjangoDbBlocker

from tests import services


@pytest.fixture(scope="session")
def django_db_setup() -> None:
    """pytest-django makes no database of its own: ours comes from the services."""


@pytest.fixture
def schema(django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """The real database as prepared, with whatever rows it has: for tests that only look at rights."""
    with django_db_blocker.unblock():
        yield


@pytest.fixture
def database(django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """The real database, prepared and empty; rows are really committed."""
    with django_db_blocker.unblock():
        services.empty()
        yield


SHARED = frozenset({"ledger", "identities", "evaluation", "web", "browser"})
"""Folders whose tests share one installation: where tests run in parallel, these stay in one process, in order."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        folder = item.path.relative_to(Path(__file__).parent).parts[0]
        if folder in SHARED or folder == "box":
            item.add_marker(pytest.mark.xdist_group("installation" if folder in SHARED else folder))
        _skip_without_users(item)


def _skip_without_users(item: pytest.Item) -> None:
    """An ordinary user has no second Unix user to try things as. In CI that is a failure, not an excuse."""
    if os.geteuid() != 0 and os.environ.get("CI") != "true" and item.get_closest_marker("root"):
        item.add_marker(pytest.mark.skip(reason="needs a start as root"))
