"""Real processes of the test installation: workers, launcher, clock, web. Started, awaited and killed by name."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from box import daemons, engine, images, processes
from evaluator.isolation import spec
from leaderboard.management.commands.launcher import installation_name
from leaderboard.models import Run
from tests.installation import STATE

EVALUATING = ("launcher", "clock", "runner", "grader")


def start(*names: str) -> None:
    """Start the named processes that don't run, and wait for each."""
    engine.ensure(STATE)
    images.ensure(STATE, str(STATE.config().get("engine", "transformers")))
    made = [processes.daemon(STATE, row) for row in processes.table(STATE) if row.name in names]
    spawned = [(daemons.spawn(STATE, each), each) for each in made]
    for process, each in spawned:
        if process is not None:
            daemons.wait(STATE, process, each)


def stop(*names: str) -> None:
    for name in names:
        daemons.stop(STATE, name)


def kill(name: str) -> None:
    """As abruptly as there is: the process and its children."""
    pid = daemons.pid(STATE, name)
    assert pid is not None, f"{name} does not run"
    os.killpg(pid, signal.SIGKILL)
    until(lambda: daemons.pid(STATE, name) is None, 5)


@contextmanager
def running(*names: str) -> Iterator[None]:
    start(*names)
    try:
        yield
    finally:
        stop(*names)


def until(reached: Callable[[], bool], seconds: float) -> None:
    """Wait for something that must come. Fails when it did not."""
    deadline = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < deadline, f"did not happen within {seconds:.0f} s"
        time.sleep(0.02)


def state_of(run: Run) -> str:
    return str(Run.objects.values_list("state", flat=True).get(pk=run.pk))


def reaches(run: Run, *states: str, seconds: float = 90) -> str:
    """Wait until the run is in one of ``states``. Returns which."""
    until(lambda: state_of(run) in states, seconds)
    return state_of(run)


def containers_of(run: Run | None = None) -> list[str]:
    """Ids of this run's containers, or of all that this installation has made; running or not."""
    label = f"{spec.LABEL_RUN}={run.pk}" if run else f"{spec.LABEL_INSTALLATION}={installation_name(STATE.root)}"
    listed = subprocess.run(
        ["docker", "ps", "--all", "--quiet", f"--filter=label={label}"], capture_output=True, text=True, check=True
    )
    return listed.stdout.split()
