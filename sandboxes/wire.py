"""The wire: what crosses the wall between the host and a guest, and nothing else does.

A guest has one pipe in (standard input) and one out (standard output). Both carry *frames*:

    1 byte kind | 4 bytes length, big-endian | length bytes payload

The payload is one JSON object in UTF-8. Numbers are integers; text may hold anything JSON can say. This is version 1.

    guest -> host                                          host -> guest
    H HELLO  {"wire": 1, "engine", "versions": {}}         C CONFIG {"preset": {}, "options": {}}
    Y READY  facts of the loaded model                     I ITEM   {"index", "messages" | "prompt", "max_tokens"?}
    O OUTPUT one finished item                             R RUN    {}: work through what was sent as one schedule
    D DONE   {"stats": {}}                                 E END    {}: no more work, exit 0
    F FAULT  {"code", "detail"}, then exit

HELLO, CONFIG, READY, then any number of (ITEM..., RUN, OUTPUT..., DONE), then END. The guest answers each ITEM of a
schedule with exactly one OUTPUT of the same index, in any order.

Neither side trusts the other: each reads under caps on the size of a frame, their number and the total of bytes, and
takes only the kinds it expects. What breaks a rule is a ``WireError`` with a stable code: ``kind``, ``frame``,
``frames``, ``total``, ``truncated``, ``json``, ``duplicate``, ``depth``. Whatever was read stays *untrusted* until a
function that says so has validated it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple

VERSION = 1

HELLO, READY, OUTPUT, DONE, FAULT = b"H", b"Y", b"O", b"D", b"F"
CONFIG, ITEM, RUN, END = b"C", b"I", b"R", b"E"
FROM_GUEST = frozenset({HELLO, READY, OUTPUT, DONE, FAULT})
FROM_HOST = frozenset({CONFIG, ITEM, RUN, END})

DEPTH = 16
_HEAD = 5
_CHUNK = 1 << 16


@dataclass(frozen=True)
class Caps:
    """What one direction may carry in its life: bytes of one payload, frames, bytes in all."""

    frame: int = 8 << 20
    frames: int = 1 << 20
    total: int = 4 << 30


class WireError(Exception):
    """The other side (or, when writing, this one) broke the wire's rules."""

    def __init__(self, code: str, detail: str = "") -> None:
        self.code = code
        super().__init__(f"{code}: {detail}" if detail else code)


class Frame(NamedTuple):
    """One frame as read."""

    kind: bytes
    untrusted_payload: bytes


class Decoder:
    """Cuts a byte stream, in pieces of any size, into frames. Holds at most one frame and one piece."""

    def __init__(self, accepts: frozenset[bytes], caps: Caps) -> None:
        self._accepts, self._caps = accepts, caps
        self._buffer = bytearray()
        self._frames = self._total = 0

    def feed(self, untrusted: bytes) -> Iterator[Frame]:
        """The frames that ``untrusted`` completes. Raises as soon as a cap is announced or passed."""
        self._total += len(untrusted)
        if self._total > self._caps.total:
            raise WireError("total", f"more than {self._caps.total} bytes")
        self._buffer += untrusted
        while len(self._buffer) >= _HEAD:
            end = _HEAD + self._announced_length()
            if len(self._buffer) < end:
                return
            frame = Frame(bytes(self._buffer[:1]), bytes(self._buffer[_HEAD:end]))
            del self._buffer[:end]
            self._frames += 1
            yield frame

    def finish(self) -> None:
        """Say that the stream has ended. Raises when that cuts a frame."""
        if self._buffer:
            raise WireError("truncated", f"{len(self._buffer)} bytes of an unfinished frame")

    def _announced_length(self) -> int:
        kind, length = bytes(self._buffer[:1]), int.from_bytes(self._buffer[1:_HEAD], "big")
        if kind not in self._accepts:
            raise WireError("kind", f"unexpected {kind!r}")
        if length > self._caps.frame:
            raise WireError("frame", f"{length} bytes announced, {self._caps.frame} allowed")
        if self._frames >= self._caps.frames:
            raise WireError("frames", f"more than {self._caps.frames}")
        return length


class Encoder:
    """Turns messages into bytes, under caps of its own."""

    def __init__(self, caps: Caps) -> None:
        self._caps = caps
        self._frames = self._total = 0

    def encode(self, kind: bytes, message: Mapping[str, Any]) -> bytes:
        return self.encode_payload(kind, _dump(message).encode("utf-8"))

    def encode_payload(self, kind: bytes, payload: bytes) -> bytes:
        self._frames += 1
        self._total += _HEAD + len(payload)
        if len(payload) > self._caps.frame:
            raise WireError("frame", f"{len(payload)} bytes, {self._caps.frame} allowed")
        if self._frames > self._caps.frames or self._total > self._caps.total:
            raise WireError("frames" if self._frames > self._caps.frames else "total")
        return kind + len(payload).to_bytes(4, "big") + payload


def read(file: BinaryIO, decoder: Decoder) -> Iterator[Frame]:
    """Every frame of a buffered binary file until it ends."""
    while untrusted := file.read1(_CHUNK):  # type: ignore[attr-defined]  # BinaryIO lacks what every buffered reader has
        yield from decoder.feed(untrusted)
    decoder.finish()


def parse(untrusted_payload: bytes, *, depth: int = DEPTH) -> dict[str, Any]:
    """The JSON object in a payload: no key twice, no floats, no deeper than ``depth``. Its values stay untrusted."""
    try:
        value = json.loads(untrusted_payload, object_pairs_hook=_object, parse_float=_refuse, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise WireError("json", type(error).__name__) from None
    if not isinstance(value, dict):
        raise WireError("json", "not an object")
    if untrusted_payload.count(b"[") + untrusted_payload.count(b"{") > depth and _deeper(value, depth):
        raise WireError("depth", f"deeper than {depth}")
    return value


_dump = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), allow_nan=False).encode  # ASCII: surrogates survive


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise WireError("duplicate", "a key stands twice in one object")
    return value


def _refuse(_: str) -> object:
    raise WireError("json", "only integers")


def _deeper(value: object, depth: int) -> bool:
    """Whether containers nest deeper than ``depth``, level by level: no recursion that a guest could exhaust."""
    level: list[Any] = [value]
    for _ in range(depth):
        inside = [node.values() if isinstance(node, dict) else node for node in level]
        level = [child for children in inside for child in children if isinstance(child, dict | list)]
        if not level:
            return False
    return True
