"""The table of processes against the table of identities, and the layout of the state."""

from __future__ import annotations

import stat

import pytest

from box import engine, layout, processes, services, valkey
from box.state import State
from leaderboard.identities import IDENTITIES


def _table(state: State) -> dict[str, processes.Process]:
    return {process.name: process for process in processes.table(state)}


def test_every_queue_has_a_worker_of_its_own_identity(state: State) -> None:
    consumed = {
        process.arguments[4]: process.identity for process in _table(state).values() if process.program == "celery"
    }
    assert consumed == {identity.queue: name for name, identity in IDENTITIES.items() if identity.consumes}


def test_only_the_launcher_gets_the_engine(state: State) -> None:
    for process in _table(state).values():
        assert process.uses_engine == IDENTITIES[process.identity].uses_engine
        groups = processes.daemon(state, process).groups
        assert groups == ((engine.socket_group(),) if process.identity == "launcher" else ())


def test_no_process_is_told_a_secret(state: State) -> None:
    secrets = {path.read_text().strip() for path in state.secrets.glob("*/*")}
    for process in _table(state).values():
        daemon = processes.daemon(state, process)
        words = [*daemon.command, *daemon.environment.values()]
        assert not [word for word in words if any(secret in word for secret in secrets)]
        assert daemon.environment["IDENTITY"] == process.identity


def test_workers_listen_to_no_remote_control(state: State) -> None:
    for process in _table(state).values():
        if process.program == "celery":
            assert {"--without-gossip", "--without-mingle", "--without-heartbeat"} <= set(process.arguments)


@pytest.mark.root
@pytest.mark.parametrize(
    ("place", "owner", "group", "mode"),
    [
        ("intake", "web", "web", 0o700), ("journal", "runner", "runner", 0o700),
        ("run/launcher", "launcher", "runner", 0o750),
        ("store/checkpoints", "web", "launcher", 0o750), ("secrets/grader", "grader", "grader", 0o700),
    ],
)  # fmt: skip
def test_a_folder_belongs_to_who_writes_it(state: State, place: str, owner: str, group: str, mode: int) -> None:
    found = (state.root / place).stat()
    assert (found.st_uid, found.st_gid) == (layout.uid(state, owner), layout.uid(state, group))
    assert stat.S_IMODE(found.st_mode) == mode


@pytest.mark.root
def test_packs_are_added_by_all_and_replaced_by_none(state: State) -> None:
    assert stat.S_IMODE((state.root / "store" / "packs").stat().st_mode) == 0o1777


def test_a_deep_folder_still_gets_a_socket(state: State) -> None:
    assert layout.socket_folder(state, "valkey") == state.run / "valkey"
    deep = State(state.root / ("x" * 90), separate=False)
    deep.root.mkdir()
    assert len(str(layout.socket_folder(deep, "valkey") / "valkey.sock")) < 100
    deep.root.rmdir()


@pytest.mark.broker
def test_the_broker_keeps_its_messages_over_a_kill(broker: State) -> None:
    valkey.ask(broker, "LPUSH", "heldout:runner", "kept")
    valkey.stop(broker)
    assert not valkey.running(broker)
    valkey.start(broker)
    assert valkey.ask(broker, "LRANGE", "heldout:runner", "0", "-1") == "*1\r\n$4\r\nkept\r\n"
    valkey.ask(broker, "DEL", "heldout:runner")


def test_a_port_once_chosen_stays(state: State) -> None:
    state.configure(web={"host": "127.0.0.1", "port": 8765, "public_url": "https://board.example"})
    assert services._web(state)["public_url"] == "https://board.example"
    assert services._web(state)["port"] == 8765
