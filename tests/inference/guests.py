"""A model guest in memory: it speaks the real wire, renders ChatML over bytes, and lies where a test tells it to."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from evaluator.inference.conversation import Conversation, Patience
from evaluator.inference.session import Session
from sandboxes import wire

PRESET: dict[str, Any] = {
    "name": "short", "version": "1", "mode": "chat", "system": None, "temperature": "0", "top_p": "1", "top_k": 0,
    "max_tokens": 8, "stop": [], "seed": 0, "dtype": "float32", "batch": {"policy": "length-sorted", "size": 4},
    "context": 400, "coverage_gate": "0.95",
}  # fmt: skip

QUICK = Patience(hello=0.2, ready=0.2, output=0.2, end=0.2, tick=0.01)

Twist = Callable[[bytes, dict[str, Any]], Any]


def chatml(messages: list[dict[str, str]]) -> str:
    return "".join(f"<{each['role']}>{each['content']}</>" for each in messages) + "<assistant>"


@dataclass(frozen=True)
class End:
    """How it ended, as a launcher would say."""

    ended: str = "exit"
    code: int | None = 0
    oom: bool = False
    unchanged: bool = True


@dataclass
class Guest:
    """``twist`` may return another message for a frame, bytes to send instead, or ``None`` to swallow it."""

    render: Callable[[list[dict[str, str]]], str] = chatml
    twist: Twist = lambda kind, message: message
    end: End = field(default_factory=End)
    answers: Mapping[int, str] = field(default_factory=dict)
    context: int = 400
    killed: bool = False
    asked: list[list[int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._decoder = wire.Decoder(wire.FROM_HOST, wire.Caps())
        self._waiting: list[dict[str, Any]] = []
        self._said = bytearray()
        self._gone = False
        self._say(wire.HELLO, {"wire": 1, "engine": "memory", "versions": {}})

    def send(self, data: bytes) -> None:
        for frame in self._decoder.feed(data):
            message = wire.parse(frame.untrusted_payload)
            if frame.kind == wire.CONFIG:
                self._say(wire.READY, {"dtype": "float32", "context": self.context})
            elif frame.kind == wire.ITEM:
                self._waiting.append(message)
            elif frame.kind == wire.RUN:
                self._run()
            else:
                self._gone = True

    def receive(self, timeout: float) -> bytes:
        if self._said:
            data = bytes(self._said[:100_000])
            del self._said[:100_000]
            return data
        if self._gone:
            return b""
        raise TimeoutError

    def die(self) -> None:
        self._gone = True

    def close_input(self) -> None:
        self._gone = True

    def kill(self) -> None:
        self.killed = True

    def exit(self) -> End:
        return self.end

    def _run(self) -> None:
        items, self._waiting = self._waiting, []
        self.asked.append([item["index"] for item in items])
        for item in items:
            self._say(wire.OUTPUT, self._answer(item))
        self._say(wire.DONE, {"stats": {"items": len(items)}})

    def _answer(self, item: dict[str, Any]) -> dict[str, Any]:
        rendered = self.render(item["messages"]) if "messages" in item else item["prompt"]
        ids = list(rendered.encode("utf-8", "replace"))
        allowance = item.get("max_tokens", 8)
        text = self.answers.get(item["index"], "ok")
        tokens, outcome, detail = [*text.encode()[: allowance - 1], 0], "answered", "eos"
        if allowance == 1:
            tokens, outcome, detail = list(text.encode()[:1]), "limit", "length"
        if len(ids) >= self.context:
            tokens, text, outcome, detail = [], "", "context", "context"
        return {
            "index": item["index"], "outcome": outcome, "detail": detail, "text": text, "tokens": tokens,
            "logprob": -1, "batch": 0, "ms": 1, "rendered": rendered, "prompt_tokens": len(ids), **digests(rendered),
        }  # fmt: skip

    def _say(self, kind: bytes, message: dict[str, Any]) -> None:
        twisted = None if self._gone else self.twist(kind, message)
        if isinstance(twisted, dict):
            self._said += wire.Encoder(wire.Caps()).encode(kind, twisted)
        elif isinstance(twisted, bytes):
            self._said += twisted


def digests(rendered: str) -> dict[str, str]:
    ids = rendered.encode("utf-8", "replace")
    packed = struct.pack(f"<{len(ids)}I", *ids)
    return {
        "prompt_sha256": hashlib.sha256(rendered.encode("utf-8", "backslashreplace")).hexdigest(),
        "prompt_ids_sha256": hashlib.sha256(packed).hexdigest(),
    }


def control() -> dict[str, Any]:
    """What intake would have computed for this guest's template and tokenizer."""
    messages = [{"role": "user", "content": "Copy: näive"}]
    rendered = chatml(messages)
    found = digests(rendered)
    return {
        "messages": messages, "text_sha256": found["prompt_sha256"], "ids_sha256": found["prompt_ids_sha256"],
        "ids": len(rendered.encode()),
    }  # fmt: skip


def items(count: int = 3) -> list[dict[str, Any]]:
    return [{"index": n, "messages": [{"role": "user", "content": f"item {n}"}]} for n in range(count)]


def session(guest: Guest, **changes: Any) -> Session:
    caps = wire.Caps(frame=4 << 20, frames=1000, total=8 << 20)
    tick = changes.pop("tick", lambda: None)
    talk = Conversation(guest, patience=QUICK, caps=caps, tick=tick)
    return Session(talk, preset=PRESET | changes.pop("preset", {}), control=changes.pop("control", control()))


def run(guest: Guest, asked: list[dict[str, Any]] | None = None, **changes: Any) -> list[dict[str, Any]]:
    whole = session(guest, **changes)
    whole.open()
    return list(whole.outputs(items() if asked is None else asked))


def twisting(wanted: bytes, **changes: Any) -> Twist:
    """Change fields of every frame of one kind."""
    return lambda kind, message: message | changes if kind == wanted else message


def twisting_item(index: int, /, **changes: Any) -> Twist:
    """Change fields of the OUTPUT of one item."""
    return lambda kind, message: message | changes if message.get("index") == index else message


def frames(data: bytes) -> Iterator[wire.Frame]:
    yield from wire.Decoder(wire.FROM_GUEST, wire.Caps()).feed(data)
