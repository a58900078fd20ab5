"""What is wrong with this machine, and what to do about it: one line each. Changes nothing."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from box import daemons, engine, environments, home, images, postgres, processes, valkey
from box.progress import say
from box.state import REPOSITORY, State

GIB = 1 << 30
NEEDED_DISK = 15
NEEDED_MEMORY = 6


@dataclass(frozen=True)
class Finding:
    """``good`` is None for what is worth knowing and neither good nor bad."""

    good: bool | None
    text: str


Check = Callable[[State], Iterator[Finding]]
MARKS = {True: "ok", False: "BAD", None: "--"}


def run(state: State) -> int:
    """Print all findings. Returns 1 if any is bad."""
    findings = [finding for check in CHECKS for finding in check(state)]
    for finding in findings:
        say(f"  {MARKS[finding.good]:4}{finding.text}")
    return int(any(finding.good is False for finding in findings))


def _either(good: bool, text: str, otherwise: str, bad: bool | None = False) -> Finding:
    return Finding(True, text) if good else Finding(bad, otherwise)


def users(state: State) -> Iterator[Finding]:
    shared = "all identities share one Unix user; roles, broker users and keys are still separate, and each run says so"
    yield _either(state.separate, "every identity is a Unix user of its own", shared, None)
    closed = f"{REPOSITORY} is closed to other Unix users: everything runs from a copy below {home.SHELF}"
    yield _either(not state.separate or home.readable(REPOSITORY), f"the code runs from {REPOSITORY}", closed, None)


def python(state: State) -> Iterator[Finding]:
    found = environments.DEBIAN_PYTHON.exists() or shutil.which("python3.11") is not None
    yield _either(found, "Python 3.11", "Python 3.11 is missing: install Debian's package python3")
    for name in ("web", "dev"):
        fits = environments.stamp(state, name) == environments.lock_digest(name)
        yield _either(fits, f"environment {name} fits its lock", f"environment {name} is not built: `make env`", None)


def containers(state: State) -> Iterator[Finding]:
    version = engine.version()
    if not version:
        yield Finding(None if os.geteuid() == 0 else False, f"Docker Engine does not answer: {_start_it()}")
        return
    yield Finding(True, f"Docker Engine {version}")
    recorded = images.recorded(state)
    for guest in images.ENGINES:
        image = recorded.get(guest, {}).get("id", "")[:19]
        yield _either(
            bool(image), f"guest image {guest} {image}", f"guest image {guest} is not built: `make images`", None
        )


def _start_it() -> str:
    return "`make demo` installs and starts it" if os.geteuid() == 0 else engine.for_a_user()


def room(state: State) -> Iterator[Finding]:
    nearest = next(path for path in (state.root, *state.root.parents) if path.exists())
    disk = shutil.disk_usage(nearest).free // GIB
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // GIB
    yield Finding(disk >= NEEDED_DISK, f"{disk} GiB free on the disk of {nearest}, {NEEDED_DISK} are needed")
    yield Finding(memory >= NEEDED_MEMORY, f"{memory} GiB of memory, {NEEDED_MEMORY} are needed")
    yield Finding((os.cpu_count() or 1) >= 2, f"{os.cpu_count()} cores, 2 are needed")


def clock(_: State) -> Iterator[Finding]:
    newest = max(path.stat().st_mtime for path in REPOSITORY.glob("*") if path.is_file())
    hours = (newest - time.time()) / 3600
    late = f"the clock is {hours:.1f} h behind the newest file of the code: set it, or leases go wrong"
    yield _either(hours < 0.1, "the clock is not behind the code", late)


def ports(state: State) -> Iterator[Finding]:
    web = state.config().get("web")
    if not web:
        yield Finding(None, "no port chosen yet: it will be the first free one from 8000 on")
        return
    with socket.socket() as probe:
        probe.settimeout(1)
        taken = probe.connect_ex((web["host"], web["port"])) == 0
    ours = daemons.pid(state, "web") is not None
    stranger = f"port {web['port']} is taken by another program: stop it, or change web.port in {state.config_file}"
    yield _either(ours or not taken, f"port {web['port']} is {'ours' if ours else 'free'}", stranger)


def kernel(_: State) -> Iterator[Finding]:
    seccomp = "Seccomp:" in Path("/proc/self/status").read_text()
    yield _either(seccomp, "seccomp filters", "this kernel has no seccomp: guests will not be started")
    lacking = {"net", "pid", "mnt", "ipc", "uts"} - {path.name for path in Path("/proc/self/ns").iterdir()}
    yield _either(
        not lacking, "namespaces", f"the kernel lacks namespaces ({', '.join(sorted(lacking))}): no isolation"
    )
    yield Finding(None, f"control groups version {2 if Path('/sys/fs/cgroup/cgroup.controllers').exists() else 1}")
    modules = Path("/sys/kernel/security/lsm")
    yield Finding(None, f"security modules: {modules.read_text().strip() if modules.exists() else 'unknown'}")


def gpu(_: State) -> Iterator[Finding]:
    program = shutil.which("nvidia-smi")
    if program is None:
        yield Finding(None, "no NVIDIA GPU: models run on the CPU")
        return
    command = (program, "--query-gpu=name,driver_version", "--format=csv,noheader")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    yield _either(done.returncode == 0, f"GPU: {done.stdout.strip()}", "nvidia-smi fails: look at the driver")


def running(state: State) -> Iterator[Finding]:
    if not state.config_file.exists():
        yield Finding(None, "nothing was started yet: `make demo`")
        return
    yield _either(postgres.running(state), "PostgreSQL answers", "PostgreSQL is down: `make up`", None)
    yield _either(valkey.running(state), "Valkey answers", "Valkey is down: `make up`", None)
    for name, pid in processes.status(state).items():
        yield _either(pid is not None, f"{name} runs as process {pid}", f"{name} is down: `make up`", None)


CHECKS: tuple[Check, ...] = (users, python, containers, room, clock, ports, kernel, gpu, running)
