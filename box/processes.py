"""The processes of one machine: a table, and how each becomes a daemon under its identity.

web           pages, uploads, event streams
web-worker    checks uploaded checkpoints
runner        evaluates: talks to the launcher, never to the engine
grader        grades; a fresh process for every task
launcher      the only one with the engine's socket
clock         returns expired leases, repeats hints
"""

from __future__ import annotations

import socket
from dataclasses import dataclass

from box import daemons, engine, layout
from box.progress import step
from box.state import REPOSITORY, State

MANAGE = str(REPOSITORY / "manage.py")
WORKER = ("--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel=INFO", "--concurrency=1")


@dataclass(frozen=True)
class Process:
    """One row. ``program`` is a file of the web environment's bin folder."""

    name: str
    identity: str
    program: str
    arguments: tuple[str, ...]
    uses_engine: bool = False


def table(state: State) -> tuple[Process, ...]:
    """Every process, in the order of starting: whoever is asked stands before whoever asks."""
    web = state.config().get("web", {})
    address = (f"--host={web.get('host', '127.0.0.1')}", f"--port={web.get('port', 8000)}")
    return (
        Process("launcher", "launcher", "python", (MANAGE, "launcher"), uses_engine=True),
        Process("clock", "clock", "python", (MANAGE, "clock")),
        _worker("grader", "grader", "prefork"),
        _worker("runner", "runner", "solo"),
        _worker("web-worker", "web", "solo"),
        Process("web", "web", "uvicorn", ("leaderboard.asgi:application", *address, "--no-server-header",
                                          "--timeout-graceful-shutdown=5")),
    )  # fmt: skip


def _worker(name: str, queue: str, pool: str) -> Process:
    arguments = ("-A", "leaderboard.celery", "worker", "-Q", queue, "-n", f"{name}@%h", f"--pool={pool}", *WORKER)
    return Process(name, queue, "celery", arguments)


def start(state: State) -> list[str]:
    """Start every process that does not run. Returns the names of those started now."""
    started = []
    for process in table(state):
        if daemons.pid(state, process.name) is None:
            with step(f"starting {process.name}"):
                daemons.start(state, daemon(state, process))
            started.append(process.name)
    return started


def stop(state: State) -> list[str]:
    """Stop them, askers first. Returns the names of those that ran."""
    return [process.name for process in reversed(table(state)) if daemons.stop(state, process.name)]


def status(state: State) -> dict[str, int | None]:
    """The pid of each process; nothing for one that does not run."""
    return {process.name: daemons.pid(state, process.name) for process in table(state)}


def daemon(state: State, process: Process) -> daemons.Daemon:
    """What to start. The environment is an allow-list and holds nothing secret."""
    own = str(state.run / process.identity)
    program = str(state.env("web") / "bin" / process.program)
    return daemons.Daemon(
        process.name, (program, *process.arguments), layout.owner(state, process.identity),
        {
            "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": own, "TMPDIR": own, "PYTHONUNBUFFERED": "1",
            "IDENTITY": process.identity, "HELDOUT_STATE": str(state.root),
            "DJANGO_SETTINGS_MODULE": "leaderboard.settings",
        },
        groups=(engine.socket_group(),) if process.uses_engine else (),
        ready=lambda: _ready(state, process),
    )  # fmt: skip


def _ready(state: State, process: Process) -> bool:
    """The two that others connect to are ready when they listen; for the rest it is enough to have been started."""
    if process.name == "launcher":
        return _listens(socket.AF_UNIX, state.config()["launcher_socket"])
    if process.name == "web":
        web = state.config()["web"]
        return _listens(socket.AF_INET, (web["host"], web["port"]))
    return True


def _listens(family: socket.AddressFamily, address: str | tuple[str, int]) -> bool:
    with socket.socket(family) as probe:
        probe.settimeout(1)
        return probe.connect_ex(address) == 0
