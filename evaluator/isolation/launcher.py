"""The launcher: the only process that talks to the container engine.

A request names a run and an attempt and can name nothing else. For each one the launcher, in this order:

1. refuses a peer whose uid isn't allowed (the kernel says who it is, not the peer);
2. reads the claimed run itself through ``lookup``, and refuses an attempt that is no longer the claimed one;
3. says what it will create (the runner fixes its RunSpec with that) and waits for the go;
4. hashes every file of the checkpoint against the run's manifest;
5. creates the container, compares its effective configuration with the specification, and starts it;
6. relays bytes until one of the endings of ``relay``; then kills, collects, removes and tells how it ended.

At its start it removes what a dead launcher of the same installation left behind. Whoever dies, the guest dies with
it: the runner's hang-up ends it, and the end of the launcher closes its input.
"""

from __future__ import annotations

import logging
import socket
import stat
import struct
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from evaluator.errors import Fault, FaultKind, IntegrityError, Refused, Stale
from evaluator.isolation import checkpoints, chunks
from evaluator.isolation.base import ExitFacts, Guest, LaunchFacts, Tier
from evaluator.isolation.relay import Ending, Relay
from sandboxes import wire

log = logging.getLogger(__name__)

Lookup = Callable[[str], LaunchFacts]
"""Reads the claimed run. Raises ``Stale`` where it isn't claimed, ``Refused`` where it can't be launched."""

REQUEST_PATIENCE = 5.0
GO_PATIENCE = 120.0
AT_ONCE = 32


class Launcher:
    """A server on a Unix socket. ``allowed_uids`` are the peers it serves."""

    def __init__(
        self, address: Path, tier: Tier, lookup: Lookup, checkpoint_root: Path, allowed_uids: frozenset[int]
    ) -> None:
        self._address, self._tier, self._lookup = address, tier, lookup
        self._root, self._allowed = checkpoint_root, allowed_uids
        self._places = threading.BoundedSemaphore(AT_ONCE)
        self._living: dict[str, int] = {}
        self._lock = threading.Lock()
        self._stopping = threading.Event()

    def serve_forever(self) -> None:
        """Reap, listen, serve each request in a thread of its own, until ``stop``."""
        log.info("launcher reaped %d leftovers", len(self._tier.reap()))
        with listening(self._address) as listener:
            listener.settimeout(0.2)
            while not self._stopping.is_set():
                try:
                    peer, _ = listener.accept()
                except TimeoutError:
                    continue
                threading.Thread(target=self._serve, args=(peer,), daemon=True).start()

    def stop(self) -> None:
        self._stopping.set()

    def _serve(self, peer: socket.socket) -> None:
        with peer:
            try:
                self._admit(peer)
                with self._place():
                    self._launch(peer, *_request(peer))
            except (Fault, IntegrityError, Refused, Stale) as error:
                log.warning("launcher refused: %s", _code(error))
                _tell(peer, chunks.message(chunks.REFUSED, _refusal(error)))

    def _admit(self, peer: socket.socket) -> None:
        if peer_uid(peer) not in self._allowed:
            raise Refused.one("launcher.peer", "launcher", "This user may not start containers.", "Ask the runner.")

    def _launch(self, peer: socket.socket, run: str, attempt: int, rest: bytes) -> None:
        facts = self._lookup(run)
        if facts.run != run or facts.attempt != attempt:
            raise Stale(f"attempt {attempt} of run {run} is not the claimed one")
        with self._alone(f"{run}/{attempt}"):
            _tell(peer, chunks.message(chunks.OFFER, asdict(self._tier.offer(facts))))
            decoder = _decoder(facts.limits.input_bytes)
            early = _await_go(peer, decoder, rest)
            if early is None:
                return
            verified = checkpoints.verify(self._root, facts.manifest)
            began = time.monotonic()
            guest = self._tier.prepare(facts, verified.folder)
            try:
                ended = self._converse(peer, guest, facts, Relay(peer, guest, facts.limits, decoder), early)
                spent = {"wall_ms": round((time.monotonic() - began) * 1000), "unchanged": verified.unchanged()}
            finally:
                guest.remove()
        _tell(peer, chunks.message(chunks.EXIT, ended | spent))

    def _converse(
        self, peer: socket.socket, guest: Guest, facts: LaunchFacts, relay: Relay, early: list[wire.Frame]
    ) -> dict[str, Any]:
        guest.start()
        ending = None
        try:
            _tell(peer, chunks.message(chunks.STARTED, {"name": guest.name}))
            ending = relay.run(early)
        finally:
            if ending is not Ending.EXIT:
                guest.kill()
        log.info("run %s attempt %d ended: %s", facts.run, facts.attempt, ending)
        return _told(ending, guest.exit_facts(), relay)

    @contextmanager
    def _place(self) -> Iterator[None]:
        if not self._places.acquire(blocking=False):
            raise Fault(FaultKind.LAUNCHER, "busy", f"{AT_ONCE} guests at once")
        try:
            yield
        finally:
            self._places.release()

    @contextmanager
    def _alone(self, key: str) -> Iterator[None]:
        """One guest for an attempt: a repeated request must not remove the container of a running one."""
        with self._lock:
            if key in self._living:
                raise Fault(FaultKind.LAUNCHER, "already_running", key)
            self._living[key] = threading.get_ident()
        try:
            yield
        finally:
            with self._lock:
                del self._living[key]


def peer_uid(peer: socket.socket) -> int:
    """The uid of the process at the other end, from the kernel."""
    _, uid, _ = struct.unpack("3i", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
    return int(uid)


def _request(peer: socket.socket) -> tuple[str, int, bytes]:
    """The request line, and what already came after it."""
    peer.settimeout(REQUEST_PATIENCE)
    untrusted = b""
    while b"\n" not in untrusted:
        try:
            piece = peer.recv(chunks.REQUEST_LIMIT)
        except OSError:
            piece = b""
        untrusted += piece
        if not piece or (len(untrusted) > chunks.REQUEST_LIMIT and b"\n" not in untrusted):
            raise _bad_request()
    line, _, rest = untrusted.partition(b"\n")
    try:
        message = wire.parse(line)
        if set(message) != {"run", "attempt"} or type(message["attempt"]) is not int:
            raise ValueError
        return str(uuid.UUID(message["run"])), message["attempt"], rest
    except (wire.WireError, ValueError, AttributeError, TypeError):
        raise _bad_request() from None


def _await_go(peer: socket.socket, decoder: wire.Decoder, rest: bytes) -> list[wire.Frame] | None:
    """Chunks that came after the go, or nothing where the runner left without it."""
    peer.settimeout(GO_PATIENCE)
    untrusted, frames = rest, list[wire.Frame]()
    try:
        while not frames:
            frames += decoder.feed(untrusted)
            if not frames and not (untrusted := peer.recv(chunks.PIECE)):
                return None
    except (OSError, wire.WireError):
        return None
    return frames[1:] if frames[0].kind == chunks.GO else None


def _bad_request() -> Refused:
    return Refused.one("launcher.request", "launcher", "The request is not understood.", "Send run and attempt alone.")


def _decoder(total: int) -> wire.Decoder:
    return wire.Decoder(chunks.FROM_RUNNER, replace(chunks.CAPS, total=2 * total + chunks.REQUEST_LIMIT))


def _told(ending: Ending, facts: ExitFacts, relay: Relay) -> dict[str, Any]:
    counts = {f"{name}_bytes": count for name, count in asdict(relay.counts).items()}
    return {"ended": ending, **asdict(facts), **counts, "stderr_tail": relay.stderr_tail()}


def _code(error: Exception) -> str:
    if isinstance(error, Fault):
        return f"{error.kind}/{error.code}: {error.detail}"
    return str(error)


def _refusal(error: Exception) -> dict[str, Any]:
    """Kinds of the client's exceptions, in its words."""
    if isinstance(error, Fault):
        return {"kind": "fault", "code": error.code, "detail": error.detail, "retry": error.retry}
    if isinstance(error, Refused):
        return {"kind": "refused", **error.findings[0].as_json()}
    return {"kind": "stale" if isinstance(error, Stale) else "integrity", "detail": str(error)}


def _tell(peer: socket.socket, data: bytes) -> None:
    try:
        peer.settimeout(REQUEST_PATIENCE)
        peer.sendall(data)
    except OSError:
        return  # it has hung up: nobody is left to tell


@contextmanager
def listening(address: Path) -> Iterator[socket.socket]:
    """A listening socket at a path. A stale file of a dead launcher is replaced; anything else there is not.

    Everyone may connect who can reach the folder: the folder's mode is the gate, the peer's uid the lock.
    """
    if address.exists() and not stat.S_ISSOCK(address.lstat().st_mode):
        raise Fault(FaultKind.LAUNCHER, "socket_path", f"{address} is in the way", retry=False)
    address.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(address))
        address.chmod(0o666)
        listener.listen(AT_ONCE)
        try:
            yield listener
        finally:
            address.unlink(missing_ok=True)
