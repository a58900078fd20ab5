"""Move bytes between one runner and one guest, under caps and a deadline, without reading their meaning.

The loop ends for exactly one of these reasons (``Ending``): the guest ended, the runner hung up, the runner asked for
a kill, the wall clock ran out, too much input, too much output, or the runner broke the protocol.
"""

from __future__ import annotations

import select
import socket
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from evaluator.isolation import chunks
from evaluator.isolation.base import STDOUT, Guest, Limits
from sandboxes import wire

TICK = 0.5
"""Seconds between looks at the clock and at the guest's memory counters."""

BACKLOG = 4 << 20
"""Bytes of output waiting for a slow runner, above which the guest isn't read."""


class Ending(StrEnum):
    EXIT = "exit"
    DISCONNECT = "disconnect"
    KILL = "kill"
    DEADLINE = "deadline"
    INPUT = "input"
    OUTPUT = "output"
    PROTOCOL = "protocol"


@dataclass
class Counts:
    """What went through."""

    input: int = 0
    output: int = 0
    stderr: int = 0


class Relay:
    """One conversation. ``run`` returns when it is over; the caller then kills, collects and removes."""

    def __init__(self, runner: socket.socket, guest: Guest, limits: Limits, decoder: wire.Decoder) -> None:
        self._runner, self._guest, self._limits, self._decoder = runner, guest, limits, decoder
        self._runner.setblocking(False)
        self._to_guest, self._to_runner = bytearray(), bytearray()
        self._input_ends = self._input_ended = False
        self._ending: Ending | None = None
        self._stderr: deque[bytes] = deque()
        self._kept = 0
        self.counts = Counts()

    def run(self, already: Iterable[wire.Frame] = ()) -> Ending:
        """``already`` are chunks that came together with the runner's go."""
        for frame in already:
            self._obey(frame)
        deadline = time.monotonic() + self._limits.wall
        poll = select.poll()
        while self._ending is None:
            self._register(poll)
            ready = dict(poll.poll(TICK * 1000))
            self._runner_said(ready.get(self._runner.fileno(), 0))
            self._guest_said(ready.get(self._guest.fileno(), 0))
            self._pass_on()
            self._guest.observe()
            self._look_at_clock(deadline)
        self._flush(deadline)
        return self._ending

    def _look_at_clock(self, deadline: float) -> None:
        if self._ending is None and time.monotonic() > deadline:
            self._ending = Ending.DEADLINE

    def stderr_tail(self) -> str:
        kept = b"".join(self._stderr)[-self._limits.stderr_kept :]
        return kept.decode("utf-8", "replace")

    def _register(self, poll: select.poll) -> None:
        poll.register(self._runner, select.POLLIN | select.POLLRDHUP | (select.POLLOUT if self._to_runner else 0))
        wanted = select.POLLIN if len(self._to_runner) < BACKLOG else 0
        poll.register(self._guest.fileno(), wanted | (select.POLLOUT if self._to_guest else 0))

    def _runner_said(self, events: int) -> None:
        if not events & (select.POLLIN | select.POLLRDHUP | select.POLLHUP | select.POLLERR):
            return
        try:
            untrusted = self._runner.recv(chunks.PIECE)
        except BlockingIOError:
            return
        except ConnectionError:
            untrusted = b""
        if not untrusted:
            self._ending = Ending.DISCONNECT
            return
        try:
            for frame in self._decoder.feed(untrusted):
                self._obey(frame)
        except wire.WireError:
            self._ending = Ending.PROTOCOL

    def _obey(self, frame: wire.Frame) -> None:
        if frame.kind == chunks.KILL:
            self._ending = Ending.KILL
        elif frame.kind == chunks.CLOSE:
            self._input_ends = True
        elif frame.kind == chunks.INPUT and not self._input_ends:
            self.counts.input += len(frame.untrusted_payload)
            self._to_guest += frame.untrusted_payload
            if self.counts.input > self._limits.input_bytes:
                self._ending = Ending.INPUT

    def _guest_said(self, events: int) -> None:
        if not events & (select.POLLIN | select.POLLHUP | select.POLLERR):
            return
        parts = self._guest.receive()
        if parts is None:
            self._ending = self._ending or Ending.EXIT
            return
        for stream, untrusted in parts:
            if stream == STDOUT:
                self._take_output(untrusted)
            else:
                self._keep_stderr(untrusted)

    def _take_output(self, untrusted: bytes) -> None:
        self.counts.output += len(untrusted)
        if self.counts.output > self._limits.output_bytes:
            self._ending = self._ending or Ending.OUTPUT
            return
        self._to_runner += chunks.chunk(chunks.OUTPUT, untrusted)

    def _keep_stderr(self, untrusted: bytes) -> None:
        """A ring by whole pieces: what lies before the last ``stderr_kept`` bytes is dropped."""
        self.counts.stderr += len(untrusted)
        self._stderr.append(untrusted)
        self._kept += len(untrusted)
        while self._kept - len(self._stderr[0]) >= self._limits.stderr_kept:
            self._kept -= len(self._stderr.popleft())

    def _pass_on(self) -> None:
        if self._to_guest:
            self._send_to_guest()
        elif self._input_ends and not self._input_ended:
            self._guest.close_input()
            self._input_ended = True
        if self._to_runner:
            self._send_to_runner()

    def _send_to_guest(self) -> None:
        try:
            with memoryview(self._to_guest)[: chunks.PIECE] as piece:
                sent = self._guest.send(piece)
        except ConnectionError:
            self._to_guest.clear()  # it reads no more; what it still says, and how it ends, will come
            return
        del self._to_guest[:sent]

    def _send_to_runner(self) -> None:
        try:
            with memoryview(self._to_runner)[: chunks.PIECE] as piece:
                sent = self._runner.send(piece)
        except BlockingIOError:
            return
        except ConnectionError:
            self._ending = Ending.DISCONNECT
            return
        del self._to_runner[:sent]

    def _flush(self, deadline: float) -> None:
        """What the guest said before it ended still goes out, as long as the runner takes it."""
        if self._ending is Ending.DISCONNECT:
            return
        self._runner.settimeout(max(1.0, min(30.0, deadline - time.monotonic())))
        try:
            self._runner.sendall(self._to_runner)
        except OSError:
            self._ending = Ending.DISCONNECT
