"""Applies ``grants.sql`` and ``guards.sql`` as the owner: what each identity may do, and what nobody may.

The parser knows one form of GRANT only, so that the matrix a test reads and the rights PostgreSQL holds are the same
text. Anything else in the file is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from django.db import connection, transaction

from evaluator.records.lifecycle import MOVES
from leaderboard.identities import IDENTITIES

_HERE = Path(__file__).parent
_GRANT = re.compile(r"GRANT (?P<rights>.+?) ON (?P<table>\w+) TO (?P<role>\w+)\Z", re.DOTALL)
_RIGHT = re.compile(r"\s*(?P<privilege>SELECT|INSERT|UPDATE|DELETE)(?:\s*\((?P<columns>[\w\s,]+)\))?\s*(?:,|\Z)")


@dataclass(frozen=True)
class Right:
    """One privilege on one table; ``columns`` is empty where the whole table is meant."""

    role: str
    table: str
    privilege: str
    columns: tuple[str, ...] = ()


def matrix() -> list[Right]:
    """The rights in ``grants.sql``. Raises ``ValueError`` for a statement of another form."""
    rights: list[Right] = []
    text = re.sub(r"--[^\n]*", "", (_HERE / "grants.sql").read_text())
    for statement in filter(None, (part.strip() for part in text.split(";"))):
        found = _GRANT.match(statement)
        if found is None:
            raise ValueError(f"grants.sql holds a statement of another form: {statement[:80]}")
        rights += _rights(found["rights"], found["table"], found["role"])
    return rights


def _rights(text: str, table: str, role: str) -> list[Right]:
    rights, at = [], 0
    while at < len(text):
        found = _RIGHT.match(text, at)
        if found is None:
            raise ValueError(f"grants.sql names an unknown privilege on {table}: {text[at : at + 40]}")
        columns = tuple(column.strip() for column in (found["columns"] or "").split(",") if column.strip())
        rights.append(Right(role, table, found["privilege"], columns))
        at = found.end()
    return rights


def guards() -> str:
    rows = [
        f"('{move.before}', '{move.after}', 'heldout_{identity}')"
        for move in MOVES
        for identity in sorted(move.identities)
    ]
    return (_HERE / "guards.sql").read_text().replace("{{moves}}", ", ".join(rows))


def apply() -> None:
    """Revoke everything from everyone, then grant the matrix and set the guards, in one transaction."""
    roles = ", ".join(identity.role for identity in IDENTITIES.values())
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"REVOKE ALL ON ALL TABLES IN SCHEMA public FROM PUBLIC, {roles}")
        cursor.execute(f"REVOKE ALL ON ALL SEQUENCES IN SCHEMA public FROM PUBLIC, {roles}")
        cursor.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
        cursor.execute(f"GRANT USAGE ON SCHEMA public TO {roles}")
        cursor.execute("ALTER DEFAULT PRIVILEGES IN SCHEMA public REVOKE ALL ON TABLES FROM PUBLIC")
        cursor.execute("ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC")
        for right in matrix():
            columns = f" ({', '.join(_quote(column) for column in right.columns)})" if right.columns else ""
            cursor.execute(f"GRANT {right.privilege}{columns} ON {right.table} TO {right.role}")
        cursor.execute(guards())


def _quote(column: str) -> str:
    return f'"{column}"'
