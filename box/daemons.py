"""One background process: started as its identity, found again later, stopped, never mistaken for another.

A pid alone says little: the number may belong to someone else by now. The pid file therefore holds the pid and the
moment its process started, in the kernel's own clock ticks; only where both fit is it ours.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from box.progress import Missing
from box.state import State, folder, write_whole

SECONDS_TO_STOP = 15.0


@dataclass(frozen=True)
class Daemon:
    """What to start, and as whom. ``environment`` is the whole of it: nothing is inherited."""

    name: str
    command: tuple[str, ...]
    owner: tuple[int, int]
    environment: dict[str, str]
    groups: tuple[int, ...] = ()
    ready: Callable[[], bool] | None = field(default=None, compare=False)
    patience: float = 60.0


def start(state: State, daemon: Daemon) -> bool:
    """Start it unless it runs; wait until it is ready. Returns whether it was started now."""
    process = spawn(state, daemon)
    if process is not None:
        wait(state, process, daemon)
    return process is not None


def spawn(state: State, daemon: Daemon) -> subprocess.Popen[bytes] | None:
    """Start it unless it runs, without waiting."""
    if pid(state, daemon.name) is not None:
        return None
    identity = {"user": daemon.owner[0], "group": daemon.owner[1], "extra_groups": list(daemon.groups)}
    with log(state, daemon.name).open("ab") as output:
        log(state, daemon.name).chmod(0o640)
        process: subprocess.Popen[bytes] = subprocess.Popen(
            daemon.command, env=daemon.environment, cwd="/", umask=0o022, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            **(identity if state.separate else {}),  # type: ignore[call-overload]
        )  # fmt: skip
    facts = {"pid": process.pid, "started": _started(process.pid)}
    write_whole(_pid_file(state, daemon.name), json.dumps(facts) + "\n")
    return process


def wait(state: State, process: subprocess.Popen[bytes], daemon: Daemon) -> None:
    """Until it is ready; ``Missing`` with the log's place when it ends or takes too long."""
    deadline = time.monotonic() + daemon.patience
    while daemon.ready is not None and not daemon.ready():
        if process.poll() is not None:
            raise Missing(
                f"{daemon.name} ended at once with code {process.returncode}: read {log(state, daemon.name)}."
            )
        if time.monotonic() > deadline:
            raise Missing(f"{daemon.name} is not ready after {daemon.patience:.0f} s: read {log(state, daemon.name)}.")
        time.sleep(0.05)


def log(state: State, name: str) -> Path:
    return state.log / f"{name}.log"


def stop(state: State, name: str, seconds: float = SECONDS_TO_STOP) -> bool:
    """Ask it to end, then end it with all its children. Returns whether there was anything to stop."""
    found = pid(state, name)
    if found is not None:
        os.kill(found, signal.SIGTERM)
        deadline = time.monotonic() + seconds
        while pid(state, name) is not None and time.monotonic() < deadline:
            time.sleep(0.05)
        if pid(state, name) is not None:
            os.killpg(found, signal.SIGKILL)
    _pid_file(state, name).unlink(missing_ok=True)
    return found is not None


def pid(state: State, name: str) -> int | None:
    """The process's pid, if it runs and really is the one that was started under this name."""
    try:
        facts = json.loads(_pid_file(state, name).read_text())
    except (FileNotFoundError, ValueError):
        return None
    alive = facts["started"] is not None and _started(facts["pid"]) == facts["started"]
    return int(facts["pid"]) if alive else None


def _pid_file(state: State, name: str) -> Path:
    return folder(state.run / "pids") / f"{name}.json"


def _started(number: int) -> int | None:
    """Field 22 of /proc/PID/stat; nothing for a process that is gone or waits to be buried."""
    try:
        text = Path(f"/proc/{number}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = text.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else int(fields[19])
