"""The live rights of every role on every table and column are those of grants.sql, no more and no fewer."""

from __future__ import annotations

import psycopg
import pytest
from django.db import connection

from leaderboard import protection
from leaderboard.identities import IDENTITIES
from tests.services import connect

pytestmark = pytest.mark.usefixtures("schema")

PRIVILEGES = ("SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER", "MAINTAIN")


def columns() -> list[tuple[str, str]]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1, 2"
        )
        return list(cursor.fetchall())


def live_rights() -> set[tuple[str, str, str, str]]:
    """(role, table, column, privilege); a right on the whole table is one on each of its columns."""
    rights: set[tuple[str, str, str, str]] = set()
    with connection.cursor() as cursor:
        for identity in IDENTITIES.values():
            for table, column in columns():
                for privilege in ("SELECT", "INSERT", "UPDATE", "REFERENCES"):
                    cursor.execute(
                        "SELECT has_column_privilege(%s, %s, %s, %s)", [identity.role, table, column, privilege]
                    )
                    if cursor.fetchone()[0]:
                        rights.add((identity.role, table, column, privilege))
    return rights


def declared_rights() -> set[tuple[str, str, str, str]]:
    whole = {}
    for table, column in columns():
        whole.setdefault(table, []).append(column)
    return {
        (right.role, right.table, column, right.privilege)
        for right in protection.matrix()
        if right.privilege != "DELETE"
        for column in right.columns or whole[right.table]
    }


def test_the_live_column_rights_equal_the_matrix() -> None:
    assert live_rights() == declared_rights()


def test_the_live_table_rights_equal_the_matrix() -> None:
    declared = {(r.role, r.table, r.privilege) for r in protection.matrix() if not r.columns}
    live = set()
    tables = sorted({table for table, _ in columns()})
    with connection.cursor() as cursor:
        for identity in IDENTITIES.values():
            for table in tables:
                for privilege in PRIVILEGES:
                    cursor.execute("SELECT has_table_privilege(%s, %s, %s)", [identity.role, table, privilege])
                    if cursor.fetchone()[0]:
                        live.add((identity.role, table, privilege))
    assert live == declared


def test_no_identity_owns_or_may_create_anything() -> None:
    roles = [identity.role for identity in IDENTITIES.values()]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT rolname FROM pg_roles WHERE rolname = ANY(%s) AND "
            "(rolsuper OR rolcreaterole OR rolcreatedb OR rolbypassrls OR rolreplication)", [roles],
        )  # fmt: skip
        assert cursor.fetchall() == []
        cursor.execute("SELECT tablename FROM pg_tables WHERE tableowner = ANY(%s)", [roles])
        assert cursor.fetchall() == []
        cursor.execute("SELECT member::regrole FROM pg_auth_members WHERE member::regrole::text = ANY(%s)", [roles])
        assert cursor.fetchall() == []


FORBIDDEN_TO_ALL = (
    "CREATE TABLE mine (x int)",
    "CREATE TEMP TABLE mine (x int)",
    "CREATE SCHEMA mine",
    "CREATE EXTENSION pg_trgm",
    "COPY (SELECT 1) TO PROGRAM 'true'",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT lo_import('/etc/passwd')",
    "SELECT * FROM pg_authid",
    "ALTER TABLE leaderboard_run DISABLE TRIGGER ALL",
    "TRUNCATE leaderboard_logentry",
    "DELETE FROM leaderboard_run",
    "SET ROLE heldout_owner",
    "SET SESSION AUTHORIZATION heldout_owner",
    "SET session_replication_role = replica",
)


@pytest.mark.parametrize("identity", IDENTITIES)
@pytest.mark.parametrize("statement", FORBIDDEN_TO_ALL)
def test_every_identity_is_refused(identity: str, statement: str) -> None:
    with connect(identity) as session, pytest.raises(psycopg.errors.InsufficientPrivilege):
        session.execute(statement)


FORBIDDEN = {
    "web": ("SELECT * FROM leaderboard_grade", "SELECT count(*) FROM leaderboard_grade",
            "INSERT INTO leaderboard_releasedscore DEFAULT VALUES", "SELECT * FROM leaderboard_logentry",
            "UPDATE leaderboard_run SET fence = 5", "UPDATE leaderboard_benchmark SET daily_limit = 1000",
            "UPDATE leaderboard_submission SET created_at = now()"),
    "curator": ("SELECT * FROM leaderboard_grade", "SELECT * FROM leaderboard_run",
                "SELECT * FROM leaderboard_releasedscore", "SELECT * FROM leaderboard_user"),
    "runner": ("SELECT * FROM leaderboard_grade", "SELECT * FROM leaderboard_releasedscore",
               "SELECT * FROM leaderboard_item", 'SELECT "group" FROM leaderboard_item',
               "SELECT * FROM leaderboard_user", "INSERT INTO leaderboard_grade DEFAULT VALUES",
               "SELECT * FROM leaderboard_practiceresult", "SELECT * FROM leaderboard_checkpoint"),
    "grader": ("SELECT * FROM leaderboard_checkpoint", "SELECT * FROM leaderboard_user",
               "UPDATE leaderboard_grade SET verdicts_digest = ''", "UPDATE leaderboard_run SET outputs_digest = ''",
               "SELECT * FROM leaderboard_submission"),
    "auditor": ("SELECT * FROM leaderboard_user", "SELECT * FROM django_session",
                "UPDATE leaderboard_grade SET verdicts_digest = ''", "UPDATE leaderboard_run SET state = 'scored'",
                "INSERT INTO leaderboard_grade DEFAULT VALUES"),
    "launcher": ("SELECT * FROM leaderboard_run", "SELECT * FROM leaderboard_grade",
                 "SELECT reason FROM leaderboard_run", "UPDATE leaderboard_run SET state = 'void'",
                 "SELECT * FROM leaderboard_item"),
    "clock": ("SELECT * FROM leaderboard_grade", "SELECT * FROM leaderboard_upload",
              "UPDATE leaderboard_run SET outputs_digest = ''", "SELECT * FROM leaderboard_checkpoint"),
}  # fmt: skip


@pytest.mark.parametrize(("identity", "statement"), [(i, s) for i, texts in FORBIDDEN.items() for s in texts])
def test_an_identity_is_refused_what_is_not_its_own(identity: str, statement: str) -> None:
    with connect(identity) as session, pytest.raises(psycopg.errors.InsufficientPrivilege):
        session.execute(statement)


def test_an_entry_can_neither_pose_nor_backdate() -> None:
    with connect("web") as session:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            session.execute(
                "INSERT INTO leaderboard_logentry (id, kind, subject, body, actor) "
                "VALUES (gen_random_uuid(), 'x', gen_random_uuid(), '{}', 'heldout_auditor')"
            )
        session.rollback()
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            session.execute(
                "INSERT INTO leaderboard_logentry (id, kind, subject, body) "
                "VALUES (gen_random_uuid(), 'x', gen_random_uuid(), '{}') RETURNING at"
            )
