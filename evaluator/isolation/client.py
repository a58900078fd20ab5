"""The runner's side of the launcher: ask for a guest, start it, send and receive bytes, learn how it ended.

with open_guest(launcher, run, attempt) as guest:
    ...guest.offer...          # fix the RunSpec with it
    guest.start()
    guest.send(...); guest.receive(timeout)
    guest.exit()
"""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from evaluator.errors import Fault, FaultKind, Finding, IntegrityError, Refused, Stale
from evaluator.isolation import chunks
from evaluator.isolation.base import Offer
from sandboxes import wire

OFFERING = 30.0
"""Seconds from the request to the offer."""

PREPARING = 600.0
"""Seconds from the go to the start: hashing a large checkpoint, creating, starting."""

SENDING = 120.0
"""Seconds a piece of input may take: a guest that reads nothing for so long is stuck."""

ENDING = 45.0
"""Seconds from a kill to the facts of the ending."""


@dataclass(frozen=True)
class Ended:
    """How a guest ended, in the launcher's words."""

    ended: str
    """``exit``, ``kill``, ``deadline``, ``input``, ``output``, ``protocol``."""
    code: int | None
    oom: bool
    evidence: tuple[str, ...]
    peak_memory: int | None
    wall_ms: int
    unchanged: bool
    """Whether the checkpoint's files were the same at the end."""
    input_bytes: int
    output_bytes: int
    stderr_bytes: int
    stderr_tail: str
    """The guest's last words. Untrusted, and once it has seen hidden prompts as secret as they are."""


class GuestStream:
    """A guest, offered and then running. Use as a context manager: leaving it ends the guest, whatever happened."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._decoder = wire.Decoder(chunks.FROM_LAUNCHER, chunks.CAPS)
        self._pending: list[wire.Frame] = []
        self._ended: Ended | None = None
        self.name = ""

    offer: Offer

    def __enter__(self) -> GuestStream:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def send(self, data: bytes) -> None:
        """Bytes for the guest's standard input. Raises ``Fault`` where they can't be delivered."""
        self._connection.settimeout(SENDING)
        try:
            for start in range(0, len(data), chunks.PIECE):
                self._connection.sendall(chunks.chunk(chunks.INPUT, data[start : start + chunks.PIECE]))
        except OSError as error:
            raise Fault(FaultKind.LAUNCHER, "send", str(error)) from error

    def close_input(self) -> None:
        self._say(chunks.CLOSE)

    def kill(self) -> None:
        """End the guest now. ``exit`` then tells how it ended."""
        self._say(chunks.KILL)

    def receive(self, timeout: float) -> bytes:
        """The next bytes of the guest's standard output; nothing once it has ended. Raises ``TimeoutError``."""
        if self._ended is not None:
            return b""
        frame = self._next(timeout)
        if frame.kind == chunks.OUTPUT:
            return frame.untrusted_payload
        self._ended = _ended(frame)
        return b""

    def exit(self, timeout: float = ENDING) -> Ended:
        """How the guest ended. Waits for it; output that nobody read is dropped."""
        deadline = time.monotonic() + timeout
        while self._ended is None:
            frame = self._next(max(0.0, deadline - time.monotonic()))
            if frame.kind != chunks.OUTPUT:
                self._ended = _ended(frame)
        return self._ended

    def start(self, timeout: float = PREPARING) -> None:
        """Let the launcher create and start it. Raises ``IntegrityError`` where the checkpoint's files differ from
        their manifest, ``Fault`` for what is ours to retry."""
        self._say(chunks.GO)
        self.name = self._expect(chunks.STARTED, timeout)["name"]

    def wait_offer(self, timeout: float) -> None:
        self.offer = Offer(**self._expect(chunks.OFFER, timeout))

    def _expect(self, kind: bytes, timeout: float) -> dict[str, Any]:
        try:
            frame = self._next(timeout)
        except TimeoutError as error:
            raise Fault(FaultKind.LAUNCHER, "timeout", "the launcher did not answer in time") from error
        if frame.kind != kind:
            _raise_refusal(frame)
        said: dict[str, Any] = json.loads(frame.untrusted_payload)
        return said

    def _say(self, tag: bytes) -> None:
        try:
            self._connection.settimeout(SENDING)
            self._connection.sendall(chunks.chunk(tag))
        except OSError as error:
            raise Fault(FaultKind.LAUNCHER, "send", str(error)) from error

    def _next(self, timeout: float) -> wire.Frame:
        while not self._pending:
            self._connection.settimeout(max(timeout, 0.001))
            try:
                data = self._connection.recv(chunks.PIECE)
            except TimeoutError:
                raise
            except OSError as error:
                raise Fault(FaultKind.LAUNCHER, "gone", str(error)) from error
            if not data:
                raise Fault(FaultKind.LAUNCHER, "gone", "the launcher closed the connection")
            self._pending = list(self._decoder.feed(data))
        return self._pending.pop(0)


def open_guest(launcher: Path, run: str, attempt: int, *, timeout: float = OFFERING) -> GuestStream:
    """A guest for this attempt, offered but not started.

    Raises ``Stale`` where the attempt isn't the claimed one, ``Refused`` where the launcher doesn't serve us,
    ``Fault`` for what is ours to retry.
    """
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    stream = GuestStream(connection)
    try:
        connection.settimeout(timeout)
        connection.connect(str(launcher))
        with suppress(BrokenPipeError):  # refused before it was read: the reason is already on its way
            connection.sendall(json.dumps({"run": run, "attempt": attempt}).encode() + b"\n")
        stream.wait_offer(timeout)
    except OSError as error:
        connection.close()
        raise Fault(FaultKind.LAUNCHER, "unreachable", str(error)) from error
    except BaseException:
        connection.close()
        raise
    return stream


def _ended(frame: wire.Frame) -> Ended:
    if frame.kind != chunks.EXIT:
        _raise_refusal(frame)
    facts = json.loads(frame.untrusted_payload)
    return Ended(**{**facts, "evidence": tuple(facts["evidence"])})


def _raise_refusal(frame: wire.Frame) -> NoReturn:
    if frame.kind != chunks.REFUSED:
        raise Fault(FaultKind.LAUNCHER, "protocol", f"unexpected {frame.kind!r}", retry=False)
    said: Mapping[str, Any] = json.loads(frame.untrusted_payload)
    if said["kind"] == "fault":
        raise Fault(FaultKind.LAUNCHER, said["code"], said["detail"], retry=said["retry"])
    if said["kind"] == "refused":
        raise Refused([Finding(said["code"], said["where"], said["problem"], said["remedy"])])
    raise Stale(said["detail"]) if said["kind"] == "stale" else IntegrityError(said["detail"])
