"""Frames to and from one guest, with deadlines. Knows the wire; knows nothing of items."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from evaluator.errors import Fault, FaultKind
from evaluator.inference import endings, untrusted
from sandboxes import wire


class Stream(Protocol):
    """Bytes to and from a running guest; ``evaluator.isolation.client.GuestStream`` is one."""

    def send(self, data: bytes) -> None: ...

    def receive(self, timeout: float) -> bytes:
        """Some bytes; nothing once the guest has ended. Raises ``TimeoutError``."""

    def close_input(self) -> None: ...

    def kill(self) -> None: ...

    def exit(self) -> endings.Ended: ...


@dataclass(frozen=True)
class Patience:
    """Seconds."""

    hello: float = 120.0
    ready: float = 1800.0
    """Loading the model."""
    output: float = 1800.0
    """Between two frames of a schedule: on a slow processor one batch of long answers takes minutes."""
    end: float = 60.0
    tick: float = 1.0
    """How often ``tick`` is called while nothing comes."""


class Conversation:
    """One guest. ``tick`` is called about once a second while waiting; what it raises ends the guest and goes on up."""

    def __init__(
        self, stream: Stream, *, patience: Patience, caps: wire.Caps, tick: Callable[[], object] = lambda: None
    ) -> None:
        self._stream, self._patience, self._tick = stream, patience, tick
        self._decoder = wire.Decoder(wire.FROM_GUEST, caps)
        self._encoder = wire.Encoder(caps)
        self._arrived: deque[wire.Frame] = deque()
        self.patience = patience

    def send(self, *messages: tuple[bytes, Mapping[str, Any]]) -> None:
        """All of them in one go."""
        self._stream.send(b"".join(self._encoder.encode(kind, message) for kind, message in messages))

    def next(self, wanted: frozenset[bytes], patience: float) -> tuple[bytes, dict[str, Any]]:
        """The next message, still untrusted but for its kind. Raises what ``endings`` says for everything else."""
        frame = self._next_frame(time.monotonic() + patience)
        try:
            message = wire.parse(frame.untrusted_payload)
        except wire.WireError as error:
            raise self._broken(error) from None
        if frame.kind == wire.FAULT:
            endings.raise_reported(*untrusted.code_and_detail(message))
        if frame.kind not in wanted:
            raise endings.broken_wire(f"unexpected frame {frame.kind!r}")
        return frame.kind, message

    def finish(self) -> endings.Ended:
        """After END: the guest must go by itself, with nothing left to say."""
        deadline = time.monotonic() + self._patience.end
        while data := self._receive(deadline):
            if list(self._decoder.feed(data)):
                raise endings.broken_wire("the guest went on after the end")
        ended = self._stream.exit()
        if ended.ended != "exit" or ended.code != 0 or not ended.unchanged:
            endings.raise_for(ended)
        return ended

    def kill(self) -> None:
        self._stream.kill()

    def _next_frame(self, deadline: float) -> wire.Frame:
        while not self._arrived:
            data = self._receive(deadline)
            if not data:
                endings.raise_for(self._stream.exit())
            try:
                self._arrived.extend(self._decoder.feed(data))
            except wire.WireError as error:
                raise self._broken(error) from None
        return self._arrived.popleft()

    def _receive(self, deadline: float) -> bytes:
        while True:
            self._tick()
            left = deadline - time.monotonic()
            try:
                return self._stream.receive(max(0.001, min(left, self._patience.tick)))
            except TimeoutError:
                if left <= 0:
                    raise Fault(FaultKind.ENGINE, "silent", "the guest said nothing in time") from None

    def _broken(self, error: wire.WireError) -> Fault:
        return endings.broken_wire(f"the guest broke the wire: {error.code}")
