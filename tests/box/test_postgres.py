"""PostgreSQL as the box runs it: closed to whoever has no password, back after any kill, made whole or not at all."""

from __future__ import annotations

import os
import signal
import time

import psycopg
import pytest

from box import keys, postgres, roles
from box.state import State
from leaderboard.identities import IDENTITIES, OWNER_ROLE

pytestmark = pytest.mark.database


def connect(
    state: State, role: str, password: str, database: str = "heldout"
) -> psycopg.Connection[tuple[object, ...]]:
    host = str(state.run / "postgres")
    return psycopg.connect(
        host=host, port=postgres.PORT, dbname=database, user=role, password=password, autocommit=True
    )


def _password(state: State, name: str) -> str:
    return keys.password(state, name, "database.password")


@pytest.mark.parametrize("name", IDENTITIES)
def test_each_identity_comes_in_with_its_own_password_only(database: State, name: str) -> None:
    with connect(database, IDENTITIES[name].role, _password(database, name)) as connection:
        assert connection.execute("SELECT session_user").fetchone() == (IDENTITIES[name].role,)
    other = next(key for key in IDENTITIES if key != name)
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        connect(database, IDENTITIES[name].role, _password(database, other))


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE mine (a int)", "CREATE TEMP TABLE mine (a int)", "CREATE SCHEMA mine", "CREATE EXTENSION pg_trgm",
        "SELECT pg_read_file('/etc/passwd')", "SELECT lo_create(0)", "SELECT lo_import('/etc/passwd')",
        "COPY (SELECT 1) TO PROGRAM 'true'", "SELECT passwd FROM pg_shadow", "SELECT pg_notify('a', 'b')",
        f"SET ROLE {OWNER_ROLE}", "ALTER SYSTEM SET fsync = off", "CREATE ROLE mine", "CREATE DATABASE mine",
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["web", "runner", "grader"])
def test_an_identity_may_do_nothing_that_was_not_granted(database: State, name: str, statement: str) -> None:
    with (
        connect(database, IDENTITIES[name].role, _password(database, name)) as connection,
        pytest.raises(psycopg.errors.InsufficientPrivilege),
    ):
        connection.execute(statement)


@pytest.mark.parametrize("other", ["postgres", "template1"])
def test_no_other_database_lets_an_identity_in(database: State, other: str) -> None:
    with pytest.raises(psycopg.OperationalError, match="permission denied for database"):
        connect(database, "heldout_web", _password(database, "web"), other)


def test_nothing_listens_on_the_network(database: State) -> None:
    assert postgres.sql(database, "SHOW listen_addresses").strip() == ""


def test_neither_statements_nor_values_reach_the_log(database: State) -> None:
    with (
        connect(database, "heldout_web", _password(database, "web")) as connection,
        pytest.raises(psycopg.errors.DivisionByZero),
    ):
        connection.execute("SELECT 1 / (length('seventeen77') - 11)")
    assert "seventeen77" not in (database.log / "postgres" / "server.log").read_text()


def test_starting_again_changes_nothing(database: State) -> None:
    before = postgres.pid(database)
    postgres.start(database)
    assert postgres.pid(database) == before


def test_it_comes_back_after_a_kill_with_everything_committed(database: State) -> None:
    with connect(database, OWNER_ROLE, _password(database, "owner")) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS kept (a int); INSERT INTO kept VALUES (1)")
    killed = postgres.pid(database)
    assert killed is not None
    os.kill(killed, signal.SIGKILL)
    while postgres.running(database):
        time.sleep(0.05)
    postgres.start(database)
    with connect(database, OWNER_ROLE, _password(database, "owner")) as connection:
        assert connection.execute("DELETE FROM kept RETURNING a").fetchall() == [(1,)]
        connection.execute("DROP TABLE kept")


def test_a_half_made_cluster_is_made_again(database: State) -> None:
    postgres.stop(database)
    half = database.root / "postgres.new"
    (half / "data").mkdir(parents=True)
    (database.root / "postgres").rename(database.root / "postgres.whole")
    postgres.start(database)
    assert postgres.running(database)
    assert not half.exists()
    postgres.stop(database)
    (database.root / "postgres").rename(database.root / "postgres.second")
    (database.root / "postgres.whole").rename(database.root / "postgres")
    postgres.start(database)


def test_a_password_goes_in_as_a_verifier() -> None:
    """The example of RFC 7677."""
    made = roles.scram("pencil", bytes.fromhex("5b6d99689d12358eeca04b141236fa81"))
    assert made.startswith("SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=")
