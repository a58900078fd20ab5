"""Valkey's users against a real broker and real Celery workers: what is needed passes, nothing else does."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator

import pytest
import redis

from box import daemons, keys, layout
from box.broker_rights import BINDING, KEY_PREFIX, lines
from box.state import REPOSITORY, State
from leaderboard.identities import IDENTITIES

pytestmark = pytest.mark.broker

SENDERS = [name for name, identity in IDENTITIES.items() if "broker.password" in identity.secrets()]


def client(state: State, name: str) -> redis.Redis:
    path = f"{state.run}/valkey/valkey.sock"
    password = keys.password(state, name, "broker.password")
    return redis.Redis(unix_socket_path=path, username=name, password=password)


def _daemon(state: State, name: str) -> daemons.Daemon:
    celery = str(state.env("web") / "bin" / "celery")
    options = f"worker -Q {name} --pool=solo --without-gossip --without-mingle --without-heartbeat".split()
    return daemons.Daemon(
        f"bell-{name}", (celery, "--workdir", str(REPOSITORY), "-A", "tests.box.bell", *options),
        layout.owner(state, name),
        {"PATH": "/usr/bin:/bin", "HOME": "/tmp", "IDENTITY": name, "HELDOUT_STATE": str(state.root)},
    )  # fmt: skip


@pytest.fixture(scope="module")
def rung(broker: State) -> Iterator[State]:
    """One hint sent by the clock's user travelled web, runner, grader through three real workers."""
    names = ("grader", "runner", "web")
    client(broker, "owner").execute_command("ACL", "LOG", "RESET")
    try:
        for name in names:
            daemons.start(broker, _daemon(broker, name))
        _ring(broker, names)
        yield broker
    finally:
        for name in names:
            daemons.stop(broker, f"bell-{name}")


def _ring(state: State, names: tuple[str, ...]) -> None:
    code = "from tests.box.bell import app; app.send_task('web.look', args=['one'], queue='web')"
    _wait(state, [f"{BINDING}{name}" for name in names])
    environment = _daemon(state, "web").environment
    subprocess.run([state.python("web"), "-c", code], env=environment, cwd=REPOSITORY, check=True, timeout=60)


def _wait(state: State, bindings: list[str]) -> None:
    deadline = time.monotonic() + 60
    while not all(client(state, "owner").smembers(key) for key in bindings):
        assert time.monotonic() < deadline, "the workers declared no binding"
        time.sleep(0.2)


def test_a_hint_travels_through_all_three_workers(rung: State) -> None:
    deadline = time.monotonic() + 30
    told = rung.run / "grader" / "rang"
    while not told.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert told.read_text() == "one\n"


def test_celery_asks_for_nothing_that_is_refused(rung: State) -> None:
    test_a_hint_travels_through_all_three_workers(rung)
    assert client(rung, "owner").execute_command("ACL", "LOG") == []


@pytest.mark.parametrize("name", SENDERS)
@pytest.mark.parametrize(
    "words",
    [
        ("FLUSHALL",), ("CONFIG", "GET", "*"), ("KEYS", "*"), ("EVAL", "return 1", "0"), ("SCRIPT", "LOAD", "return 1"),
        ("PUBLISH", "c", "m"), ("SUBSCRIBE", "c"), ("ACL", "LIST"), ("ACL", "SETUSER", "x", "on"), ("SHUTDOWN",),
        ("MONITOR",), ("CLIENT", "LIST"), ("CLIENT", "KILL", "TYPE", "normal"), ("INFO",),
        ("SET", f"{KEY_PREFIX}new", "1"), ("MODULE", "LIST"), ("REPLICAOF", "127.0.0.1", "1"), ("SAVE",),
    ],
    ids=lambda words: " ".join(words[:2]),
)  # fmt: skip
def test_no_identity_may_use_what_it_does_not_need(broker: State, name: str, words: tuple[str, ...]) -> None:
    with pytest.raises(redis.exceptions.NoPermissionError):
        client(broker, name).execute_command(*words)


@pytest.mark.parametrize("name", SENDERS)
@pytest.mark.parametrize("queue", [name for name in SENDERS if IDENTITIES[name].consumes])
@pytest.mark.parametrize("command", ["DEL", "SET", "BRPOP", "RPOP", "LLEN", "LRANGE", "SADD", "LPUSH"])
def test_a_foreign_queue_takes_a_hint_from_its_senders_and_nothing_else(
    broker: State, name: str, queue: str, command: str
) -> None:
    if queue == name or (command == "LPUSH" and queue in IDENTITIES[name].sends_to):
        return
    more = {"SET": ["1"], "BRPOP": ["1"], "LRANGE": ["0", "1"], "SADD": ["x"], "LPUSH": ["x"]}.get(command, [])
    with pytest.raises(redis.exceptions.NoPermissionError):
        client(broker, name).execute_command(command, f"{KEY_PREFIX}{queue}", *more)


@pytest.mark.parametrize("name", SENDERS)
def test_a_foreign_binding_can_not_be_written(broker: State, name: str) -> None:
    for queue in ("web", "runner", "grader"):
        if queue != name:
            with pytest.raises(redis.exceptions.NoPermissionError):
                client(broker, name).sadd(f"{BINDING}{queue}", "x")


def test_nobody_comes_in_without_a_password(broker: State) -> None:
    path = f"{broker.run}/valkey/valkey.sock"
    for arguments in ({}, {"username": "web", "password": "wrong"}, {"username": "default", "password": ""}):
        with pytest.raises(redis.exceptions.RedisError):
            redis.Redis(unix_socket_path=path, **arguments).ping()


def test_the_file_of_users_holds_no_password_in_the_clear() -> None:
    assert "a password" not in lines(lambda name: "a password")
