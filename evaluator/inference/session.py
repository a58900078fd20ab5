"""One evaluation in one guest: controls, then the hidden items, then controls again.

1. HELLO, CONFIG, READY.
2. The canary, alone, before any hidden prompt. If it isn't what intake saw, the run ends here.
3. A probe for each sequence of roles, and the limit and context controls: now the template's frames are known.
4. All items as one schedule. Each answer is validated, its prompt is checked against its frame, and it is yielded at
   once, so that a crash loses one batch at most.
5. The canary again, END, and the guest goes.

``Session.outputs`` is a generator; leaving it early kills the guest. The system prompt of the preset is put in front
here, on the host: the guest gets whole messages.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evaluator.errors import Fault, FaultKind
from evaluator.inference import controls, rendering_check, untrusted
from evaluator.inference.controls import Verdict
from evaluator.inference.conversation import Conversation, Stream
from evaluator.inference.endings import Incident, broken_wire
from evaluator.inference.rendering_check import Frame, Roles
from evaluator.inference.untrusted import Output
from sandboxes import wire

Item = Mapping[str, Any]

__all__ = ["Report", "Session", "Stream"]


@dataclass
class Report:
    """What is known about the guest besides its answers: for provenance, complete once ``outputs`` is exhausted."""

    hello: dict[str, Any] = field(default_factory=dict)
    ready: dict[str, Any] = field(default_factory=dict)
    controls: list[Verdict] = field(default_factory=list)
    stats: list[dict[str, Any]] = field(default_factory=list)
    first_output_ms: int | None = None
    """From the start of the session to the first answer on a hidden item."""


class Session:
    """``control`` is the checkpoint's ``facts["control"]``; ``preset`` the JSON of the RunSpec's preset."""

    def __init__(
        self,
        conversation: Conversation,
        *,
        preset: Mapping[str, Any],
        control: Mapping[str, Any],
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self._talk, self._preset, self._control = conversation, preset, control
        self._options = dict(options or {})
        self._promised = float(preset["temperature"]) == 0 and preset["dtype"] == "float32"
        self._most = int(preset["max_tokens"])
        self._frames: dict[Roles, Frame] = {}
        self._began = time.monotonic()
        self.report = Report()

    def open(self) -> dict[str, Any]:
        """Load the model. Returns READY's facts, for the caller to compare with the RunSpec."""
        _, hello = self._talk.next(frozenset({wire.HELLO}), self._talk.patience.hello)
        if hello.get("wire") != wire.VERSION:
            raise broken_wire("the guest speaks another version of the wire")
        self.report.hello = untrusted.facts(hello)
        self._talk.send((wire.CONFIG, {"preset": dict(self._preset), "options": self._options}))
        _, ready = self._talk.next(frozenset({wire.READY}), self._talk.patience.ready)
        self.report.ready = untrusted.facts(ready)
        return self.report.ready

    def outputs(self, items: Sequence[Item]) -> Iterator[dict[str, Any]]:
        """The records of all items, in the order in which they are finished."""
        asked = {int(item["index"]): self._with_system(item) for item in items}
        if len(asked) != len(items) or max(asked, default=0) >= controls.CANARY or min(asked, default=0) < 0:
            raise ValueError("indices of items are unique and below those of the controls")
        finished = False
        try:
            canary = self._canary()
            self._learn({rendering_check.roles_of(item) for item in asked.values()} - {None}, canary)
            for output in self._schedule(asked):
                self._check(asked[output.index], output)
                if self.report.first_output_ms is None:
                    self.report.first_output_ms = round((time.monotonic() - self._began) * 1000)
                yield output.record
            self._close(canary)
            finished = True
        finally:
            if not finished:
                self._talk.kill()

    def _with_system(self, item: Item) -> dict[str, Any]:
        system = self._preset.get("system")
        if system is None or "messages" not in item:
            return dict(item)
        return {**item, "messages": [{"role": "system", "content": system}, *item["messages"]]}

    def _canary(self) -> Output:
        output = self._one(controls.CANARY, controls.asking(self._control, self._most))
        self._judge(controls.judge_canary(output, self._control))
        return output

    def _learn(self, wanted: set[Any], canary: Output) -> None:
        """Frames by probes, together with the two controls that need no order."""
        probes = {controls.FIRST_PROBE + n: rendering_check.probe(roles) for n, roles in enumerate(sorted(wanted))}
        requests: dict[int, dict[str, Any]] = {
            index: {"index": index, "messages": messages, "max_tokens": 1} for index, messages in probes.items()
        }
        requests[controls.LIMIT] = {"index": controls.LIMIT, **controls.asking(self._control, 1)}
        context = self.report.ready.get("context")
        if type(context) is int and 0 < context <= controls.LONGEST_CONTEXT:
            requests[controls.CONTEXT] = {"index": controls.CONTEXT, **controls.overlong(self._control, context)}
        else:
            self.report.controls.append(Verdict("context", passed=True, detail="no known context", required=False))
        for output in self._schedule(requests):
            if output.index == controls.LIMIT:
                self._judge(controls.judge_limit(output, canary, promised=self._promised))
            elif output.index == controls.CONTEXT:
                self._judge(controls.judge_context(output))
            else:
                self._keep_frame(probes[output.index], output)

    def _keep_frame(self, messages: list[dict[str, str]], output: Output) -> None:
        roles = tuple(message["role"] for message in messages)
        if output.answered_nothing:
            return  # the template refuses these roles; so it will for the items, each of which ends as malformed
        frame = Frame.learn(messages, output.rendered)
        if frame is None:
            raise Incident("rendering", None, f"the template doesn't keep the contents of {', '.join(roles)}")
        self._frames[roles] = frame

    def _check(self, item: Item, output: Output) -> None:
        if output.answered_nothing:
            return
        roles = rendering_check.roles_of(item)
        if roles is not None and roles not in self._frames:
            raise Incident("rendering", output.index, "the template took roles that it refused before")
        if not rendering_check.stands(item, output.rendered, self._frames):
            raise Incident("rendering", output.index, "the rendered prompt isn't this item in its frame")

    def _close(self, canary: Output) -> None:
        again = self._one(controls.REPEAT, controls.asking(self._control, self._most))
        self._judge(controls.judge_canary(again, self._control))
        self._judge(controls.judge_repeat(canary, again, promised=self._promised))
        self._talk.send((wire.END, {}))
        self._talk.finish()

    def _one(self, index: int, request: Mapping[str, Any]) -> Output:
        (output,) = self._schedule({index: {"index": index, **request}})
        return output

    def _schedule(self, requests: Mapping[int, Item]) -> Iterator[Output]:
        """Send, run, and take exactly one valid answer for each."""
        self._talk.send(*((wire.ITEM, _request(item)) for item in requests.values()), (wire.RUN, {}))
        owed = {index: int(item.get("max_tokens", self._most)) for index, item in requests.items()}
        wanted = frozenset({wire.OUTPUT, wire.DONE})
        while True:
            kind, message = self._talk.next(wanted, self._talk.patience.output)
            if kind == wire.DONE:
                break
            output = untrusted.output(message, owed)
            del owed[output.index]
            yield output
        if owed:
            raise broken_wire(f"the guest left {len(owed)} items unanswered")
        self.report.stats.append(untrusted.facts(message))

    def _judge(self, verdict: Verdict) -> None:
        self.report.controls.append(verdict)
        if verdict.required and not verdict.passed:
            raise Fault(FaultKind.ENGINE, f"control_{verdict.name}", verdict.detail, retry=False)


def _request(item: Item) -> dict[str, Any]:
    """What the guest may know of an item: nothing but how to ask."""
    return {key: item[key] for key in ("index", "messages", "prompt", "max_tokens") if key in item}
