"""The guest's side of the conversation: take items, work through them as one schedule, answer each exactly once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sandboxes import wire
from sandboxes.model.engine import Completion, Engine, Prompt, Sampling
from sandboxes.model.rendering import Rendered, TemplateError, render, text_of
from sandboxes.model.scheduling import ordered

Send = Callable[[bytes, Mapping[str, Any]], None]

MICRO = 1_000_000


class Conversation:
    """Items of one configured engine. ``answer`` is called with every host frame after CONFIG."""

    def __init__(self, engine: Engine, preset: Mapping[str, Any], send: Send) -> None:
        self._engine, self._send = engine, send
        self._sampling = Sampling.from_preset(preset)
        self._endings = frozenset(engine.facts()["endings"])
        self._context = engine.facts()["context"]
        self._waiting: list[Mapping[str, Any]] = []

    def take(self, item: Mapping[str, Any]) -> None:
        self._waiting.append(item)

    def run(self) -> None:
        """Answer everything taken so far, then say DONE."""
        began, worked, items, self._waiting = time.monotonic(), time.process_time(), self._waiting, []
        asked: dict[int, Asked] = {}
        for item in items:
            self._admit(item, asked)
        last = time.monotonic()
        rendering = last - began
        schedule = ordered([each.prompt for each in asked.values()])
        for completion in self._engine.generate(schedule, self._sampling):
            now = time.monotonic()
            record = self._record(asked.pop(completion.index), completion)
            self._send(wire.OUTPUT, {**record, "ms": round((now - last) * 1000)})
            last = now
        spent = {"rendering": rendering, "total": time.monotonic() - began, "cpu": time.process_time() - worked}
        stats = {f"{name}_ms": round(seconds * 1000) for name, seconds in spent.items()}
        self._send(wire.DONE, {"stats": {"items": len(items), **stats}})

    def _admit(self, item: Mapping[str, Any], asked: dict[int, Asked]) -> None:
        """Render one item; answer at once what can't be generated, put the rest into ``asked``."""
        index = item["index"]
        try:
            rendered = render(self._engine.tokenizer, item)
        except TemplateError:
            self._send(wire.OUTPUT, _unanswered(index, "malformed", "template", Rendered("", [])))
            return
        room = None if self._context is None else self._context - len(rendered.ids)
        if not rendered.ids or (room is not None and room < 1):
            outcome, detail = ("context", "context") if rendered.ids else ("malformed", "empty")
            self._send(wire.OUTPUT, _unanswered(index, outcome, detail, rendered))
            return
        wanted = item.get("max_tokens", self._sampling.max_tokens)
        allowance = wanted if room is None else min(wanted, room)
        asked[index] = Asked(Prompt(index, rendered.ids, allowance), rendered, cramped=allowance < wanted)

    def _record(self, asked: Asked, completion: Completion) -> dict[str, Any]:
        ids = completion.ids
        ended = bool(ids) and ids[-1] in self._endings
        text, stopped = text_of(self._engine.tokenizer, ids[:-1] if ended else ids, self._sampling.stop)
        if stopped or ended:
            outcome, detail = "answered", "stop" if stopped else "eos"
        else:
            outcome, detail = ("context", "context") if asked.cramped else ("limit", "length")
        return {
            "index": completion.index,
            "outcome": outcome,
            "detail": detail,
            "text": text,
            "tokens": ids,
            "logprob": round(completion.logprob * MICRO),
            "batch": completion.batch,
            **_about(asked.rendered),
        }


@dataclass(frozen=True)
class Asked:
    """A prompt at work. ``cramped``: the context leaves less room than the allowance."""

    prompt: Prompt
    rendered: Rendered
    cramped: bool


def _about(rendered: Rendered) -> dict[str, Any]:
    return {
        "rendered": rendered.text,
        "prompt_tokens": len(rendered.ids),
        "prompt_sha256": rendered.text_sha256,
        "prompt_ids_sha256": rendered.ids_sha256,
    }


def _unanswered(index: int, outcome: str, detail: str, rendered: Rendered) -> dict[str, Any]:
    nothing: dict[str, Any] = {"text": "", "tokens": [], "logprob": None, "batch": 0, "ms": 0}
    return {"index": index, "outcome": outcome, "detail": detail, **nothing, **_about(rendered)}


def items_and_runs(frames: Iterator[wire.Frame], conversation: Conversation) -> None:
    """Until END or the end of the stream."""
    for frame in frames:
        message = wire.parse(frame.untrusted_payload)
        if frame.kind == wire.ITEM:
            conversation.take(message)
        elif frame.kind == wire.RUN:
            conversation.run()
        elif frame.kind == wire.END:
            return
        else:
            raise wire.WireError("kind", "CONFIG comes once, first")
