"""The guest's conversation over an engine that needs no model: each item is answered once, for its own reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jinja2
import pytest

from evaluator.records import controls
from sandboxes import wire
from sandboxes.model.engine import Completion, Prompt, Sampling
from sandboxes.model.rendering import CLOCK, render, text_of
from sandboxes.model.serving import Conversation, items_and_runs

PRESET = {"temperature": "0", "top_p": "1", "top_k": 0, "max_tokens": 4, "seed": 0, "stop": [";"]}
END = 0


@dataclass
class Encoded:
    input_ids: list[int]


class Bytes:
    """A tokenizer whose tokens are bytes, with a begin token of 1 where special tokens are asked for."""

    def __call__(self, text: str, add_special_tokens: bool = True) -> Encoded:
        return Encoded([1] * add_special_tokens + list(text.encode()))

    def apply_chat_template(self, messages: list[dict[str, str]], **rest: Any) -> str:
        if messages[0]["content"] == "bad":
            raise jinja2.TemplateError("no")
        assert (rest["tokenize"], rest["add_generation_prompt"]) == (False, True)
        return "2025|" + "".join(each["content"] for each in messages)

    def decode(self, ids: Sequence[int], **_: Any) -> str:
        return bytes(ids).decode("utf-8", "replace")


@dataclass
class Saying:
    """An engine that says the same to everybody, within each prompt's allowance."""

    says: bytes
    context: int | None = 20
    name: str = "saying"
    tokenizer: Any = field(default_factory=Bytes)
    schedule: list[int] = field(default_factory=list)

    def facts(self) -> dict[str, Any]:
        return {"endings": [END], "context": self.context}

    def generate(self, schedule: Sequence[Prompt], sampling: Sampling) -> Iterator[Completion]:
        for prompt in schedule:
            self.schedule.append(prompt.index)
            yield Completion(prompt.index, [*self.says, END][: prompt.allowance], -0.5)


def answered(engine: Saying, *items: Mapping[str, Any]) -> list[dict[str, Any]]:
    sent: list[tuple[bytes, Mapping[str, Any]]] = []
    conversation = Conversation(engine, PRESET, lambda kind, message: sent.append((kind, message)))
    for number, item in enumerate(items):
        conversation.take({"index": number} | item)
    conversation.run()
    assert sent[-1][0] == wire.DONE
    return sorted((dict(message) for kind, message in sent if kind == wire.OUTPUT), key=lambda each: each["index"])


def chat(text: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}]}


def ends(engine: Saying, *items: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    return [(each["outcome"], each["detail"], each["text"]) for each in answered(engine, *items)]


def test_an_end_token_is_an_answer() -> None:
    (record,) = answered(Saying(b"abc"), chat("q"))
    assert (record["outcome"], record["detail"], record["text"]) == ("answered", "eos", "abc")
    assert (record["tokens"], record["logprob"]) == ([*b"abc", END], -500_000)


def test_a_stop_string_is_cut_off() -> None:
    assert ends(Saying(b"a;b"), chat("q")) == [("answered", "stop", "a")]


def test_a_used_up_allowance_is_a_limit() -> None:
    assert ends(Saying(b"abcdef"), chat("q"), chat("q") | {"max_tokens": 1}) == [
        ("limit", "length", "abcd"),
        ("limit", "length", "a"),
    ]


def test_an_answer_that_runs_out_of_context_says_so() -> None:
    assert ends(Saying(b"abcdef"), chat("x" * 13)) == [("context", "context", "ab")]


def test_a_prompt_that_fills_the_context_is_not_generated() -> None:
    engine = Saying(b"abc")
    assert ends(engine, chat("x" * 15), chat("x" * 100)) == [("context", "context", "")] * 2
    assert engine.schedule == []


def test_without_a_known_context_nothing_is_cut() -> None:
    assert ends(Saying(b"abc", context=None), chat("x" * 100)) == [("answered", "eos", "abc")]


def test_a_template_that_fails_on_one_item_fails_that_item_alone() -> None:
    assert ends(Saying(b"abc"), chat("bad"), chat("q")) == [("malformed", "template", ""), ("answered", "eos", "abc")]


def test_the_longest_prompt_goes_first() -> None:
    engine = Saying(b"a")
    answered(engine, chat("x"), chat("xxx"), chat("xx"))
    assert engine.schedule == [1, 2, 0]


def test_rendered_chats_get_no_second_begin_token_and_bare_prompts_theirs() -> None:
    assert render(Bytes(), chat("q")).ids[0] != 1
    assert render(Bytes(), {"prompt": "q"}).ids == [1, ord("q")]


def test_a_template_is_told_the_same_day_here_as_at_intake() -> None:
    assert controls.TODAY == CLOCK


def test_digests_are_those_of_the_records() -> None:
    rendered = render(Bytes(), chat("näive"))
    assert controls.prompt_digests(rendered.text, rendered.ids) == {
        "text_sha256": rendered.text_sha256,
        "ids_sha256": rendered.ids_sha256,
        "ids": len(rendered.ids),
    }


def test_the_earliest_stop_string_counts() -> None:
    assert text_of(Bytes(), b"one. two; three", [";", "."]) == ("one", True)
    assert text_of(Bytes(), b"one", [";"]) == ("one", False)


def test_an_odd_byte_becomes_a_replacement_sign() -> None:
    assert text_of(Bytes(), b"na\xc3", []) == ("na\ufffd", False)


@pytest.mark.parametrize("missing", sorted(PRESET))
def test_no_sampling_value_is_ever_guessed(missing: str) -> None:
    with pytest.raises(KeyError):
        Sampling.from_preset({key: value for key, value in PRESET.items() if key != missing})


def test_each_item_has_a_seed_of_its_own() -> None:
    sampling = Sampling.from_preset(PRESET)
    other = Sampling.from_preset(PRESET | {"seed": 1})
    low = [each.item_seed(index) & 0xFFFF_FFFF for each in (sampling, other) for index in range(50)]
    assert len(set(low)) == 100


def test_the_conversation_ends_at_end_and_refuses_a_second_configuration() -> None:
    frames = [wire.Frame(wire.END, b"{}"), wire.Frame(wire.CONFIG, b"{}")]
    conversation = Conversation(Saying(b"a"), PRESET, lambda kind, message: None)
    items_and_runs(iter(frames), conversation)
    with pytest.raises(wire.WireError):
        items_and_runs(iter(frames[1:]), conversation)
