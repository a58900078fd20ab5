"""Each field that a guest could lie in."""

from __future__ import annotations

from typing import Any

import pytest

from evaluator.errors import Fault
from sandboxes import wire
from tests.inference.guests import Guest, digests, run, twisting, twisting_item


@pytest.mark.parametrize(
    "lie",
    [
        {"index": 99},
        {"index": 0},
        {"index": True},
        {"index": "1"},
        {"outcome": "fault"},
        {"outcome": "correct"},
        {"outcome": ["answered"]},
        {"detail": "length"},
        {"detail": ["eos"]},
        {"text": None},
        {"text": "x" * (1 << 21)},
        {"tokens": [1] * 9},
        {"tokens": [-1]},
        {"tokens": [True]},
        {"tokens": [1 << 32]},
        {"tokens": "ok"},
        {"logprob": 1},
        {"logprob": True},
        {"batch": -1},
        {"ms": None},
        {"prompt_tokens": 1 << 60},
        {"prompt_sha256": "0" * 64},
        {"prompt_ids_sha256": "0" * 63},
        {"prompt_ids_sha256": 5},
        {"score": 1},
    ],
)
def test_it_refuses_a_lie(lie: dict[str, Any]) -> None:
    with pytest.raises(Fault) as caught:
        run(Guest(twist=twisting_item(1, **lie)))
    assert caught.value.code == "wire"


def test_it_refuses_an_answer_to_an_item_twice() -> None:
    def twice(kind: bytes, message: dict[str, Any]) -> Any:
        return wire.Encoder(wire.Caps()).encode(kind, message) * 2 if message.get("index") == 1 else message

    with pytest.raises(Fault, match="not owed"):
        run(Guest(twist=twice))


def test_it_refuses_a_missing_field() -> None:
    def lacking(kind: bytes, message: dict[str, Any]) -> Any:
        return {key: value for key, value in message.items() if key != "ms"} if kind == wire.OUTPUT else message

    with pytest.raises(Fault, match="fields"):
        run(Guest(twist=lacking))


def test_it_writes_a_lone_surrogate_out() -> None:
    (_, record, _) = run(Guest(twist=twisting_item(1, text="a\ud800b")))
    assert record["text"] == "a\\ud800b"


def test_it_keeps_every_other_character_as_it_is() -> None:
    text = "NUL \x00, bidi \u202e, <script>, \x1b[31m, 🙂"
    (_, record, _) = run(Guest(twist=twisting_item(1, text=text)))
    assert record["text"] == text


def test_it_refuses_facts_of_unreasonable_size() -> None:
    with pytest.raises(Fault):
        run(Guest(twist=twisting(wire.READY, note="x" * (1 << 17))))


def test_it_computes_the_digest_of_the_prompt_itself() -> None:
    lie = digests("another prompt")["prompt_sha256"]
    with pytest.raises(Fault, match="another digest"):
        run(Guest(twist=twisting_item(1, prompt_sha256=lie)))
