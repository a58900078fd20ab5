"""A whole evaluation against a guest in memory: what is asked in which order, and what each lie leads to."""

from __future__ import annotations

import pytest

from evaluator.errors import Fault, FaultKind, IntegrityError, Refused
from evaluator.inference import controls
from sandboxes import wire
from tests.inference.guests import (
    PRESET,
    End,
    Guest,
    control,
    items,
    run,
    session,
    twisting,
    twisting_item,
)


def fault(guest: Guest, **changes: object) -> Fault:
    with pytest.raises(Fault) as caught:
        run(guest, **changes)
    return caught.value


def test_it_yields_the_record_of_every_item() -> None:
    records = run(Guest(answers={1: "two"}))
    assert [record["index"] for record in records] == [0, 1, 2]
    assert records[1]["text"] == "two"
    assert set(records[0]) == {
        "index", "outcome", "detail", "text", "tokens", "logprob", "prompt_tokens", "prompt_sha256",
        "prompt_ids_sha256", "batch", "ms",
    }  # fmt: skip


def test_it_asks_the_canary_alone_before_any_hidden_prompt_and_again_at_the_end() -> None:
    guest = Guest()
    run(guest)
    first, probes, hidden, last = guest.asked
    assert (first, hidden, last) == ([controls.CANARY], [0, 1, 2], [controls.REPEAT])
    assert {controls.LIMIT, controls.CONTEXT, controls.FIRST_PROBE} == set(probes)


def test_the_canary_is_short_however_long_answers_may_be() -> None:
    with pytest.raises(Fault, match="more tokens"):
        run(Guest(twist=twisting_item(controls.CANARY, tokens=[1] * 17)), preset={"max_tokens": 100})
    run(Guest(twist=twisting_item(controls.CANARY, tokens=[1] * 16)), preset={"max_tokens": 100, "dtype": "bfloat16"})


def test_it_reports_every_control_as_passed() -> None:
    whole = session(Guest())
    whole.open()
    list(whole.outputs(items()))
    assert [verdict.name for verdict in whole.report.controls] == ["canary", "limit", "context", "canary", "repeat"]
    assert all(verdict.passed for verdict in whole.report.controls)


@pytest.mark.parametrize("field", ["text_sha256", "ids_sha256", "ids"])
def test_it_shows_no_hidden_prompt_to_a_guest_that_renders_otherwise_than_intake(field: str) -> None:
    guest = Guest()
    assert fault(guest, control=control() | {field: "other"}).code == "control_canary"
    assert guest.asked == [[controls.CANARY]]
    assert guest.killed


def test_a_failed_control_is_not_retried() -> None:
    assert not fault(Guest(twist=twisting_item(controls.LIMIT, outcome="answered", detail="eos"))).retry


def test_a_guest_that_generates_past_its_context_fails_the_run() -> None:
    lie = twisting_item(controls.CONTEXT, outcome="limit", detail="length", tokens=[1], text="x")
    assert fault(Guest(twist=lie)).code == "control_context"


def test_other_tokens_at_the_end_fail_the_run_where_the_engine_promised_the_same() -> None:
    lie = twisting_item(controls.REPEAT, tokens=[1, 2])
    assert fault(Guest(twist=lie)).code == "control_repeat"


def test_other_tokens_at_the_end_are_only_recorded_in_bfloat16() -> None:
    whole = session(Guest(twist=twisting_item(controls.REPEAT, tokens=[1, 2])), preset={"dtype": "bfloat16"})
    whole.open()
    list(whole.outputs(items()))
    assert not whole.report.controls[-1].passed


def test_the_system_prompt_of_the_preset_goes_first() -> None:
    seen: list[str] = []
    guest = Guest(twist=lambda kind, message: seen.append(message.get("rendered", "")) or message)
    run(guest, preset={"system": "Be brief."})
    assert "<system>Be brief.</><user>item 1</><assistant>" in seen


def test_bare_prompts_are_rendered_by_nothing() -> None:
    records = run(Guest(), [{"index": 7, "prompt": "2+2="}])
    assert records[0]["prompt_tokens"] == 4


def test_the_guest_is_told_only_how_to_ask() -> None:
    seen = []
    guest = Guest()
    send = guest.send
    guest.send = lambda data: (seen.append(data), send(data))[1]  # type: ignore[method-assign]
    run(guest, [items(1)[0] | {"category": "arithmetic", "answer": "forty-two"}])
    assert b"arithmetic" not in b"".join(seen)
    assert b"forty" not in b"".join(seen)


def test_a_load_failure_is_the_submissions_doing() -> None:
    reported = wire.Encoder(wire.Caps()).encode(wire.FAULT, {"code": "load", "detail": "ValueError: no such layer"})
    with pytest.raises(Refused) as caught:
        run(Guest(twist=lambda kind, message: reported if kind == wire.READY else message))
    assert caught.value.findings[0].code == "checkpoint.load"


def test_an_engine_fault_in_the_middle_is_ours() -> None:
    reported = wire.Encoder(wire.Caps()).encode(wire.FAULT, {"code": "engine", "detail": "RuntimeError"})
    found = fault(Guest(twist=lambda kind, message: reported if message.get("index") == 1 else message))
    assert (found.kind, found.code, found.retry) == (FaultKind.ENGINE, "reported", True)


@pytest.mark.parametrize(
    ("end", "kind", "code"),
    [
        (End(code=137, oom=True), FaultKind.SANDBOX, "oom"),
        (End(code=139), FaultKind.ENGINE, "died"),
        (End(ended="deadline", code=137), FaultKind.SANDBOX, "wall_clock"),
        (End(ended="output", code=137), FaultKind.SANDBOX, "output_cap"),
    ],
)
def test_a_death_is_a_typed_fault(end: End, kind: FaultKind, code: str) -> None:
    guest = Guest(end=end)
    guest.twist = lambda sort, message: guest.die() if message.get("index") == 1 else message
    found = fault(guest)
    assert (found.kind, found.code) == (kind, code)


def test_a_checkpoint_that_changed_during_the_run_is_an_incident() -> None:
    with pytest.raises(IntegrityError):
        run(Guest(end=End(unchanged=False)))


def test_a_silent_guest_is_given_up() -> None:
    assert fault(Guest(twist=lambda kind, message: None if message.get("index") == 1 else message)).code == "wire"
    assert fault(Guest(twist=lambda kind, message: None if kind == wire.DONE else message)).code == "silent"


def test_what_the_tick_raises_ends_the_guest() -> None:
    class Cancelled(Exception):
        pass

    def tick() -> None:
        if len(guest.asked) == 3:
            raise Cancelled

    guest = Guest()
    with pytest.raises(Cancelled):
        run(guest, tick=tick)
    assert guest.killed


def test_leaving_early_kills_the_guest() -> None:
    guest = Guest()
    whole = session(guest)
    whole.open()
    outputs = whole.outputs(items())
    next(outputs)
    outputs.close()  # type: ignore[attr-defined]
    assert guest.killed


def test_another_version_of_the_wire_is_refused() -> None:
    assert fault(Guest(twist=twisting(wire.HELLO, wire=2))).code == "wire"


def test_indices_of_items_can_not_reach_those_of_the_controls() -> None:
    with pytest.raises(ValueError, match="indices"):
        run(Guest(), [{"index": controls.CANARY, "prompt": "x"}])


def test_an_unknown_context_leaves_that_control_out_and_says_so() -> None:
    whole = session(Guest(twist=twisting(wire.READY, context=None)), preset=PRESET | {"context": None})
    whole.open()
    list(whole.outputs(items()))
    assert next(each for each in whole.report.controls if each.name == "context").detail == "no known context"
