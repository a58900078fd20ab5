"""The statements that make PostgreSQL's roles from the table of identities, safe to run at every start.

Passwords go in as SCRAM verifiers computed here, so that the server never sees one in the clear. What each role may
do to tables is not decided here: ``leaderboard/grants.sql`` is, applied by ``manage.py prepare`` as the owner.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets

from box import keys
from box.state import State
from leaderboard.identities import IDENTITIES, OWNER_ROLE

TIMEOUTS = {"web": "20s", "launcher": "10s", "clock": "30s"}
CONNECTIONS = {"web": 60}
ROUNDS = 4096


def statements(state: State, database: str) -> str:
    """Roles, then the database with nothing in it for PUBLIC, then who may connect."""
    text = [_role(OWNER_ROLE, keys.password(state, "owner", "database.password"), 40)]
    for name, identity in IDENTITIES.items():
        text.append(_role(identity.role, keys.password(state, name, "database.password"), CONNECTIONS.get(name, 20)))
        text.append(f"ALTER ROLE {identity.role} SET statement_timeout = '{TIMEOUTS.get(name, '60s')}';")
    text.append(_database(database))
    return "\n".join(text)


def _role(role: str, password: str, connections: int) -> str:
    exists = f"SELECT FROM pg_roles WHERE rolname = '{role}'"
    return (
        f"SELECT 'CREATE ROLE {role}' WHERE NOT EXISTS ({exists})\\gexec\n"
        f"ALTER ROLE {role} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS "
        f"CONNECTION LIMIT {connections} PASSWORD '{scram(password)}';"
    )


def _database(name: str) -> str:
    roles = ", ".join([OWNER_ROLE, *(identity.role for identity in IDENTITIES.values())])
    return f"""
SELECT 'CREATE DATABASE {name} OWNER {OWNER_ROLE} TEMPLATE template0 ENCODING ''UTF8'''
 WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = '{name}')\\gexec
REVOKE ALL ON DATABASE {name}, postgres, template1 FROM PUBLIC;
GRANT CONNECT ON DATABASE {name} TO {roles};
\\connect {name}
REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO {roles};
ALTER SCHEMA public OWNER TO {OWNER_ROLE};
REVOKE EXECUTE ON FUNCTION lo_creat(int), lo_create(oid), lo_from_bytea(oid, bytea) FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION pg_notify(text, text) FROM PUBLIC;
"""  # noqa: S608  # every name comes from the table of identities


def scram(password: str, salt: bytes | None = None) -> str:
    """RFC 5803's form of a password, as PostgreSQL stores it."""
    salt = salt or secrets.token_bytes(16)
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, ROUNDS)
    stored = hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
    server = hmac.digest(salted, b"Server Key", "sha256")
    encoded = [base64.b64encode(part).decode() for part in (salt, stored, server)]
    return f"SCRAM-SHA-256${ROUNDS}:{encoded[0]}${encoded[1]}:{encoded[2]}"
