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
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

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
    host, port = _address(state)
    address = (f"--host={host}", f"--port={port}")
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
    """Start every process that does not run and wait for all. Returns the names of those started now."""
    waiting = []
    for process in table(state):
        made = daemon(state, process)
        spawned = daemons.spawn(state, made)
        if spawned is not None:
            waiting.append((spawned, made))
    if waiting:
        with step(f"starting {', '.join(made.name for _, made in waiting)}"):
            for spawned, made in waiting:
                daemons.wait(state, spawned, made)
    return [made.name for _, made in waiting]


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
        ready=_ready(state, process),
    )  # fmt: skip


def _ready(state: State, process: Process) -> Callable[[], bool] | None:
    """Whoever listens is ready when it does; a worker when it says so. The clock asks and is asked nothing."""
    if process.name == "launcher":
        return lambda: _listens(socket.AF_UNIX, state.config()["launcher_socket"])
    if process.name == "web":
        return lambda: _listens(socket.AF_INET, _address(state))
    if process.program == "celery":
        return _says(daemons.log(state, process.name), f"{process.name}@")
    return None


def _address(state: State) -> tuple[str, int]:
    web = state.config().get("web", {})
    return web.get("host", "127.0.0.1"), web.get("port", 8000)


def _says(log: Path, words: str) -> Callable[[], bool]:
    """Whether a line of the log written from now on holds these words and ends with "ready."."""
    begin = log.stat().st_size if log.exists() else 0

    def said() -> bool:
        lines = log.read_bytes()[begin:].decode(errors="replace").splitlines()
        return any(words in line and line.endswith("ready.") for line in lines)

    return said


def _listens(family: socket.AddressFamily, address: str | tuple[str, int]) -> bool:
    with socket.socket(family) as probe:
        probe.settimeout(1)
        return probe.connect_ex(address) == 0
