"""Fixtures that every folder of tests may use."""

from __future__ import annotations

from collections.abc import Iterator

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
