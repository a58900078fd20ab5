"""Up and down: everything of one installation, in the order in which the parts need each other.

1. environments, folders, keys          4. schema, grants, static files
2. PostgreSQL and Valkey                5. processes
3. the container engine and the guest image
"""

from __future__ import annotations

import hashlib
import socket
import subprocess
from pathlib import Path
from typing import Any

from box import engine, environments, images, keys, layout, postgres, processes, valkey
from box.progress import Missing, say, step
from box.state import REPOSITORY, State, alone, folder
from leaderboard.identities import UID_BASE

PORTS = range(8000, 8100)


def up(state: State, guest: str = "transformers") -> None:
    """Bring everything up and return. What already runs is left alone; calling it again is quick."""
    with alone(folder(state.root) / ".up.lock"):
        _up(state, guest)


def _up(state: State, guest: str) -> None:
    environments.ensure(state, "web")
    layout.ensure(state)
    keys.ensure(state)
    postgres.start(state)
    valkey.start(state)
    engine.ensure(state)
    images.ensure(state, guest)
    changed = configure(state, guest)
    prepare(state)
    if changed:
        processes.stop(state)
    processes.start(state)


def down(state: State) -> None:
    """Stop every process and both services. Nothing is lost: their state is on the disk."""
    if not state.config_file.exists():
        say("  nothing runs")
        return
    for name in processes.stop(state):
        say(f"  {name} stopped")
    valkey.stop(state)
    postgres.stop(state)


def configure(state: State, guest: str) -> bool:
    """Write config.json. Returns whether it changed: running processes read it at their start only."""
    before = state.config()
    state.configure(
        web=_web(state),
        engine=guest,
        uid_base=UID_BASE if state.separate else None,
        code=_code_digest(),
        launcher_socket=str(layout.socket_folder(state, "launcher") / "launcher.sock"),
    )
    return state.config() != before


def _code_digest() -> str:
    """Of what our processes run: where it changed they are started anew."""
    whole = hashlib.sha256()
    for package in ("leaderboard", "evaluator", "sandboxes"):
        for path in sorted((REPOSITORY / package).rglob("*.py")):
            whole.update(f"{path.relative_to(REPOSITORY)}\0".encode() + path.read_bytes())
    return whole.hexdigest()


def _web(state: State) -> dict[str, Any]:
    """Where the pages are served. A port once chosen stays, so that links keep working; host and URL may be edited."""
    chosen = dict(state.config().get("web", {}))
    if "port" not in chosen:
        port = next((port for port in PORTS if _free(port)), None)
        if port is None:
            raise Missing(f"No port between {PORTS.start} and {PORTS.stop - 1} is free on 127.0.0.1: free one.")
        chosen = {"host": "127.0.0.1", "port": port, "public_url": f"http://127.0.0.1:{port}"} | chosen
    return chosen


def _free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def prepare(state: State) -> None:
    with step("database schema and grants"):
        manage(state, "owner", "prepare", "--verbosity=0")
    stamp, digest = state.root / "static.digest", _static_digest(state)
    if not stamp.exists() or stamp.read_text() != digest:
        with step("static files"):
            manage(state, "none", "collectstatic", "--noinput", "--clear", "--verbosity=0")
        stamp.write_text(digest)


def manage(state: State, identity: str, *arguments: str) -> str:
    """Run one of manage.py's commands under an identity: as its uid, with its secrets. Returns what it printed."""
    uid, gid = layout.owner(state, "owner" if identity == "none" else identity)
    options = {"user": uid, "group": gid, "extra_groups": []} if state.separate else {}
    command = (str(state.python("web")), str(REPOSITORY / "manage.py"), *arguments)
    done = subprocess.run(
        command, env=environment(state, identity), cwd="/", umask=0o022, capture_output=True, text=True, check=False,
        **options,  # type: ignore[call-overload]
    )  # fmt: skip
    if done.returncode:
        say(done.stdout + done.stderr)
        raise Missing(f"`manage.py {arguments[0]}` as {identity} failed: see the lines above.")
    return str(done.stdout)


def environment(state: State, identity: str) -> dict[str, str]:
    """What one of manage.py's commands gets: who it is and where the state lies. Nothing secret."""
    return {
        "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": "/tmp", "IDENTITY": identity,  # noqa: S108  # nothing is kept
        "HELDOUT_STATE": str(state.root),
    }  # fmt: skip


def _static_digest(state: State) -> str:
    files = sorted(path for path in Path(REPOSITORY / "leaderboard" / "static").rglob("*") if path.is_file())
    whole = hashlib.sha256(environments.stamp(state, "web").encode())
    for path in files:
        whole.update(f"{path.relative_to(REPOSITORY)}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()
