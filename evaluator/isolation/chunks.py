"""What runner and launcher say to each other over the launcher's socket.

The runner opens with one line of JSON, ``{"run": UUID, "attempt": N}``. After it both sides send *chunks* in the
frame format of ``sandboxes.wire`` (1 byte tag, 4 bytes length, payload) with tags of their own:

    launcher -> runner                                  runner -> launcher
    f OFFER    what it will create                      g GO     create and start it
    s STARTED  {"name"}                                 i INPUT  bytes for the guest's standard input
    o OUTPUT   bytes of the guest's standard output     c CLOSE  no more input
    x EXIT     how it ended; the last chunk             k KILL   end it now
    r REFUSED  {"kind", "code", "detail"}; the last

The payload of OUTPUT is a piece of a byte stream and ends anywhere: the launcher doesn't know what the guest says.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sandboxes import wire

OFFER, STARTED, OUTPUT, EXIT, REFUSED = b"f", b"s", b"o", b"x", b"r"
GO, INPUT, CLOSE, KILL = b"g", b"i", b"c", b"k"
FROM_LAUNCHER = frozenset({OFFER, STARTED, OUTPUT, EXIT, REFUSED})
FROM_RUNNER = frozenset({GO, INPUT, CLOSE, KILL})

PIECE = 256 << 10
REQUEST_LIMIT = 4096
CAPS = wire.Caps(frame=PIECE, frames=1 << 40, total=1 << 50)
"""Each piece is capped here; the totals are capped by the run's limits, on the launcher's side."""


def chunk(tag: bytes, payload: bytes = b"") -> bytes:
    return tag + len(payload).to_bytes(4, "big") + payload


def message(tag: bytes, value: Mapping[str, Any]) -> bytes:
    return chunk(tag, json.dumps(value, separators=(",", ":")).encode())
