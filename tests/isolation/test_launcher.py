"""Who may ask the launcher for what: tried with a tier that starts no container."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from evaluator.errors import Fault, FaultKind, Refused, Stale
from evaluator.isolation.base import STDOUT, ExitFacts, LaunchFacts, Offer
from evaluator.isolation.client import GuestStream, open_guest
from evaluator.isolation.launcher import listening
from tests.isolation.launching import Bench, launching, wait_for

OFFER = Offer("sha256:" + "a" * 64, {"threads": 1}, {"tier": "echo"}, "none", "s", "t", {}, {"memory": 1})


class Echo:
    """A guest that says back what it is told."""

    def __init__(self, tier: EchoTier, name: str) -> None:
        self.name, self._tier = name, tier
        self._here, self._there = socket.socketpair()
        self._here.setblocking(False)

    def start(self) -> None:
        self._tier.started.append(self.name)

    def fileno(self) -> int:
        return self._here.fileno()

    def receive(self) -> list[tuple[int, bytes]] | None:
        data = self._here.recv(1000)
        return [(STDOUT, data)] if data else None

    def send(self, data: bytes | memoryview) -> int:
        return self._there.send(data)

    def close_input(self) -> None:
        self._there.shutdown(socket.SHUT_WR)

    def observe(self) -> None: ...

    def kill(self) -> None:
        self._tier.killed.append(self.name)

    def exit_facts(self) -> ExitFacts:
        return ExitFacts(0, oom=False)

    def remove(self) -> None:
        self._here.close()
        self._there.close()
        self._tier.removed.append(self.name)


@dataclass
class EchoTier:
    name: str = "echo"
    trouble: Fault | None = None
    started: list[str] = field(default_factory=list)
    killed: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)

    def offer(self, facts: LaunchFacts) -> Offer:
        return OFFER

    def prepare(self, facts: LaunchFacts, checkpoint: Path) -> Echo:
        if self.trouble:
            raise self.trouble
        return Echo(self, f"{facts.run}/{facts.attempt}")

    def reap(self, living: Sequence[str] = ()) -> list[str]:
        return []


def told(bench: Bench, request: bytes) -> bytes:
    """What the launcher answers to a raw request."""
    with socket.socket(socket.AF_UNIX) as peer:
        peer.settimeout(10)
        peer.connect(str(bench.address))
        peer.sendall(request)
        return peer.recv(65536)


def test_it_offers_then_starts_then_relays_then_tells_the_end() -> None:
    tier = EchoTier()
    with launching(tier) as bench, bench.open() as guest:
        assert guest.offer == OFFER
        assert tier.started == []
        guest.start()
        assert tier.started == [f"{bench.facts.run}/1"]
        guest.send(b"hello")
        assert guest.receive(5) == b"hello"
        guest.close_input()
        assert (guest.receive(5), guest.exit().ended) == (b"", "exit")
    assert (tier.killed, tier.removed) == ([], tier.started)


def test_another_user_is_refused() -> None:
    with launching(EchoTier(), allowed=frozenset({os.getuid() + 1})) as bench:
        with pytest.raises(Refused) as caught:
            bench.open()
        assert caught.value.findings[0].code == "launcher.peer"
        assert bench.looked_up == []


def test_another_attempt_than_the_claimed_one_is_stale() -> None:
    with launching(EchoTier()) as bench, pytest.raises(Stale):
        bench.open(attempt=2)


def test_a_lookup_for_another_run_is_stale() -> None:
    with launching(EchoTier()) as bench:
        asked = bench.facts.run
        bench.facts = replace(bench.facts, run="99999999-2222-4333-8444-555555555555")
        with pytest.raises(Stale):
            open_guest(bench.address, asked, 1)


@pytest.mark.parametrize(
    "request_line",
    [
        b"\n",
        b"[]\n",
        b"not json\n",
        b'{"run": "x", "attempt": 1}\n',
        b'{"run": "11111111-2222-4333-8444-555555555555"}\n',
        b'{"run": "11111111-2222-4333-8444-555555555555", "attempt": true}\n',
        b'{"run": "11111111-2222-4333-8444-555555555555", "attempt": "1"}\n',
        b'{"run": "11111111-2222-4333-8444-555555555555", "attempt": 1, "image": "other"}\n',
        b'{"run": "11111111-2222-4333-8444-555555555555", "attempt": 1, "mounts": ["/:/host"]}\n',
        b'{"run": "11111111-2222-4333-8444-555555555555", "run": "x", "attempt": 1}\n',
        b"x" * 5000,
    ],
)
def test_a_request_that_asks_for_anything_else_is_refused(request_line: bytes) -> None:
    with launching(EchoTier()) as bench:
        assert b"launcher.request" in told(bench, request_line)
        assert bench.looked_up == []


def test_the_same_attempt_is_not_started_twice_at_once() -> None:
    with launching(EchoTier()) as bench, bench.started():
        with pytest.raises(Fault) as caught:
            bench.open()
        assert caught.value.code == "already_running"


def test_a_runner_that_leaves_after_the_offer_starts_nothing() -> None:
    tier = EchoTier()
    with launching(tier) as bench:
        bench.open().__exit__()
        wait_for(lambda: not bench.launcher._living)
    assert (tier.started, tier.removed) == ([], [])


def test_a_hang_up_kills_and_removes() -> None:
    tier = EchoTier()
    with launching(tier) as bench:
        bench.started().__exit__()
        wait_for(lambda: tier.removed == tier.killed == [f"{bench.facts.run}/1"])


def test_a_chunk_that_no_runner_sends_ends_the_guest() -> None:
    tier = EchoTier()
    with launching(tier) as bench, bench.started() as guest:
        guest._say(b"?")
        assert guest.exit().ended == "protocol"


def test_a_fault_of_the_tier_arrives_as_it_is() -> None:
    trouble = Fault(FaultKind.LAUNCHER, "effective", "CapAdd", retry=False)
    with launching(EchoTier(trouble=trouble)) as bench, pytest.raises(Fault) as caught:
        bench.started()
    assert (caught.value.code, caught.value.detail, caught.value.retry) == ("effective", "CapAdd", False)


def test_no_launcher_is_a_fault_worth_repeating(tmp_path: Path) -> None:
    with pytest.raises(Fault) as caught:
        open_guest(tmp_path / "none.sock", "11111111-2222-4333-8444-555555555555", 1)
    assert (caught.value.kind, caught.value.retry) == (FaultKind.LAUNCHER, True)


def test_a_launcher_that_dies_is_a_fault_worth_repeating() -> None:
    here, there = socket.socketpair()
    here.close()
    with GuestStream(there) as guest, pytest.raises(Fault) as caught:
        guest.receive(5)
    assert (caught.value.code, caught.value.retry) == ("gone", True)


def test_a_stale_socket_of_a_dead_launcher_is_replaced(tmp_path: Path) -> None:
    address = tmp_path / "l.sock"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(address))
    with listening(address), socket.socket(socket.AF_UNIX) as peer:
        peer.connect(str(address))
    assert not address.exists()


def test_a_file_in_the_way_of_the_socket_is_not_removed(tmp_path: Path) -> None:
    address = tmp_path / "l.sock"
    address.write_text("precious")
    with pytest.raises(Fault), listening(address):
        pass
    assert address.read_text() == "precious"
