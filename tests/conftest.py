"""Fixtures that every folder of tests may use."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django.plugin import DjangoDbBlocker
from xdist.scheduler import LoadScopeScheduling

from box import daemons
from tests import installation, services


@pytest.fixture(scope="session")
def django_db_setup() -> None:
    """pytest-django makes no database of its own: ours comes from the services."""


@pytest.fixture(scope="module", autouse=True)
def quiet(request: pytest.FixtureRequest) -> None:
    """No process of an earlier folder works on the rows of tests that move them by hand."""
    folder = request.path.relative_to(Path(__file__).parent).parts[0]
    if folder in SHARED - {"evaluation"}:
        for name in ("clock", "runner", "grader", "launcher"):
            daemons.stop(installation.STATE, name)


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


class Scopes(LoadScopeScheduling):  # type: ignore[misc]  # the library has no types
    """What must stay in one process: everything on the shared installation; elsewhere a file."""

    def _split_scope(self, nodeid: str) -> str:
        folder = nodeid.split("/")[1]
        return "installation" if folder in SHARED else str(nodeid.partition("::")[0])


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> Scopes:
    return Scopes(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """An ordinary user has no second Unix user to try things as. In CI that is a failure, not an excuse."""
    if os.geteuid() == 0 or os.environ.get("CI") == "true":
        return
    for item in items:
        if item.get_closest_marker("root"):
            item.add_marker(pytest.mark.skip(reason="needs a start as root"))
