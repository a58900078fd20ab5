"""Background processes: started once, found again, stopped, and never mistaken for a stranger with the same number."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from box import daemons
from box.progress import Missing
from box.state import State, folder

SLEEPS = "import signal, time; signal.signal(signal.SIGTERM, {}); print('up', flush=True); time.sleep(60)"


def _daemon(code: str, **more: object) -> daemons.Daemon:
    owner = (62064, 62064) if os.geteuid() == 0 else (os.geteuid(), os.getegid())
    return daemons.Daemon("sleeper", ("/usr/bin/python3.11", "-c", code), owner, {"A": "b"}, **more)  # type: ignore[arg-type]


@pytest.fixture
def small(tmp_path: Path) -> Iterator[State]:
    state = State(tmp_path, separate=os.geteuid() == 0)
    folder(state.log)
    yield state
    daemons.stop(state, "sleeper", seconds=0.1)


def _sleeper(state: State, handler: str = "signal.SIG_DFL") -> int:
    log = daemons.log(state, "sleeper")
    assert daemons.start(state, _daemon(SLEEPS.format(handler), ready=lambda: b"up" in log.read_bytes()))
    found = daemons.pid(state, "sleeper")
    assert found is not None
    return found


def test_it_starts_once_and_is_found_again(small: State) -> None:
    pid = _sleeper(small)
    assert daemons.start(small, _daemon("print('another')")) is False
    assert daemons.pid(small, "sleeper") == pid


def test_it_gets_its_identity_and_no_variable_but_its_own(small: State) -> None:
    pid = _sleeper(small)
    status = Path(f"/proc/{pid}/status").read_text()
    groups = next(line for line in status.splitlines() if line.startswith("Groups:"))
    assert b"A=b\0" in Path(f"/proc/{pid}/environ").read_bytes()
    assert b"PATH" not in Path(f"/proc/{pid}/environ").read_bytes()
    assert (groups.split()[1:] == []) is (os.geteuid() == 0)
    assert Path(f"/proc/{pid}").stat().st_uid == _daemon("").owner[0]


def test_a_killed_one_is_seen_as_gone_and_started_again(small: State) -> None:
    os.kill(pid := _sleeper(small), signal.SIGKILL)
    while daemons.pid(small, "sleeper") == pid:
        time.sleep(0.01)
    assert _sleeper(small) != pid


def test_a_stranger_with_the_same_number_is_left_alone(small: State) -> None:
    path = folder(small.run / "pids") / "sleeper.json"
    path.write_text(json.dumps({"pid": os.getpid(), "started": 1}))
    assert daemons.pid(small, "sleeper") is None
    assert daemons.stop(small, "sleeper") is False


def test_a_torn_pid_file_means_nothing_runs(small: State) -> None:
    (folder(small.run / "pids") / "sleeper.json").write_text('{"pid": 1')
    assert daemons.pid(small, "sleeper") is None


def test_one_that_ignores_the_request_to_end_is_ended(small: State) -> None:
    pid = _sleeper(small, "signal.SIG_IGN")
    assert daemons.stop(small, "sleeper", seconds=0.3)
    assert os.waitpid(pid, 0)[1] == signal.SIGKILL


def test_one_that_ends_at_once_is_reported_with_its_log(small: State) -> None:
    with pytest.raises(Missing, match=r"sleeper ended at once with code 3: read .*sleeper\.log"):
        daemons.start(small, _daemon("raise SystemExit(3)", ready=lambda: False))
