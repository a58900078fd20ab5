"""Docker Engine: found, or as root on Debian installed and started. Never a privileged container, never a new group.

A daemon that was killed leaves files behind that name its process; when that number now belongs to something else,
the next daemon refuses to start or waits for a containerd that is not there. Such files are removed first.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

from box import debian
from box.progress import Missing, step
from box.state import State, folder

SOCKET = Path("/var/run/docker.sock")
PID_FILE = Path("/var/run/docker.pid")
LEFTOVERS = {
    PID_FILE: "dockerd",
    Path("/var/run/docker/containerd/containerd.pid"): "containerd",
}
"""Files that name a process, and what that process must be. Any other process means the file is stale."""

PATIENCE = 60.0


def ensure(state: State) -> None:
    """Return when the engine answers this user. Raises ``Missing`` with one sentence otherwise."""
    if answers():
        return
    if os.geteuid() != 0:
        raise Missing(for_a_user())
    debian.require("docker", "docker.io", "containers")
    debian.require("dockerd", "docker.io", "containers")
    with step("starting Docker Engine"):
        _start(state)


def answers() -> bool:
    """Whether the engine answers this user now."""
    return version() != ""


def version() -> str:
    """The engine's version, or nothing when it doesn't answer."""
    if shutil.which("docker") is None:
        return ""
    command = ("docker", "version", "--format", "{{.Server.Version}}")
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=20)
    except subprocess.TimeoutExpired:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def docker(*arguments: str) -> str:
    """Run one client command and return its output. Output is shown when it fails."""
    done = subprocess.run(("docker", *arguments), capture_output=True, text=True, check=False)
    if done.returncode:
        raise Missing(f"`docker {' '.join(arguments[:3])} …` failed: {(done.stderr or done.stdout).strip()[-2000:]}")
    return done.stdout


def docker_reading(write: Callable[[IO[bytes]], None], *arguments: str) -> None:
    """Run one client command that reads what ``write`` puts into its standard input."""
    with subprocess.Popen(
        ("docker", *arguments), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as client:
        assert client.stdin is not None
        try:
            write(client.stdin)
            client.stdin.close()
        except BrokenPipeError:
            pass  # the client ended early and says why
        problem = client.stderr.read().decode(errors="replace") if client.stderr else ""
    if client.returncode:
        raise Missing(f"`docker {arguments[0]} …` failed: {problem.strip()[-2000:]}")


def socket_group() -> int:
    """The group that may use the engine's socket: the launcher's only extra group."""
    return SOCKET.stat().st_gid


def remove_leftovers() -> list[Path]:
    """Remove pid files whose process is gone or is another program. Returns what was removed."""
    removed = []
    for path, program in LEFTOVERS.items():
        if path.exists() and not _is_running(path, program):
            path.unlink(missing_ok=True)
            removed.append(path)
    return removed


def _is_running(path: Path, program: str) -> bool:
    pid = path.read_text().strip()
    comm = Path("/proc") / pid / "comm"
    return pid.isdigit() and comm.exists() and comm.read_text().strip() == program


def _start(state: State) -> None:
    if Path("/run/systemd/system").exists():
        subprocess.run(("systemctl", "start", "docker"), capture_output=True, check=False)
    else:
        remove_leftovers()
        if not PID_FILE.exists():
            _start_daemon(folder(state.log) / "dockerd.log")
    deadline = time.monotonic() + PATIENCE
    while not answers():
        if time.monotonic() > deadline:
            raise Missing(f"Docker Engine did not answer within {PATIENCE:.0f} s: read {state.log / 'dockerd.log'}.")
        time.sleep(0.3)


def _start_daemon(log: Path) -> None:
    """Without an init system the daemon is ours to start, in a session of its own so that it outlives us."""
    with log.open("ab") as output:
        subprocess.Popen(
            ("dockerd", "--host", f"unix://{SOCKET}"),
            stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True, cwd="/",
        )  # fmt: skip


def for_a_user() -> str:
    """One sentence for somebody who is not root and gets no answer."""
    if shutil.which("docker") is None:
        return "Docker Engine is missing: ask root to install Debian's docker.io and to put you into group docker."
    if SOCKET.exists() and not os.access(SOCKET, os.R_OK | os.W_OK):
        return f"You may not use {SOCKET}: ask root to put you into group docker, then log in again."
    return "Docker Engine does not answer: ask root to start it (`systemctl start docker`)."
