"""The real services that tests run against, and who one is when talking to them.

The test process itself is the owner of the database, so that it can set the stage and look behind it; what a test is
about happens inside ``as_identity``, with that identity's role and password, or in real processes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

import psycopg
from django.conf import settings
from django.db import connection, connections

from leaderboard.identities import IDENTITIES, OWNER_ROLE


def password(identity: str) -> str:
    return (Path(settings.STATE) / "secrets" / identity / "database.password").read_text().strip()


def role(identity: str) -> str:
    return OWNER_ROLE if identity == "owner" else IDENTITIES[identity].role


@contextmanager
def as_identity(name: str) -> Iterator[None]:
    """Everything on the default connection, in new threads too, under this identity's role."""
    before = dict(connections.settings["default"])
    connection.close()
    connections.settings["default"].update(USER=role(name), PASSWORD=password(name))
    connection.settings_dict.update(USER=role(name), PASSWORD=password(name))
    try:
        yield
    finally:
        connection.close()
        connections.settings["default"].update(before)
        connection.settings_dict.update(USER=before["USER"], PASSWORD=before["PASSWORD"])


def connect(identity: str) -> psycopg.Connection[tuple[object, ...]]:
    """A connection of the driver alone, as this identity."""
    database = settings.DATABASES["default"]
    return psycopg.connect(
        host=database["HOST"], port=int(database["PORT"]), dbname=database["NAME"],
        user=role(identity), password=password(identity),
    )  # fmt: skip


@lru_cache(maxsize=1)
def _superuser() -> psycopg.Connection[tuple[object, ...]]:
    """Sweeps up between tests, and does nothing else. No guard binds it."""
    database = settings.DATABASES["default"]
    secret = (Path(settings.STATE) / "secrets" / "owner" / "superuser.password").read_text().strip()
    return psycopg.connect(
        host=database["HOST"], port=int(database["PORT"]), dbname=database["NAME"],
        user="postgres", password=secret, autocommit=True,
    )  # fmt: skip


def disconnect() -> None:
    """Forget the superuser's connection: the server is about to go away."""
    _superuser().close()
    _superuser.cache_clear()


def empty() -> None:
    """Remove every row of ours: deleting is ten times faster than truncating small tables with many indexes."""
    tables = [
        table
        for table in connection.introspection.table_names()
        if table.startswith(("leaderboard_", "account_", "socialaccount_"))
        or table in {"django_session", "django_admin_log"}
    ]
    deletes = "; ".join(f"DELETE FROM {table}" for table in tables)
    _superuser().execute(f"SET session_replication_role = replica; {deletes}")
