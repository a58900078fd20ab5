"""Templates that cheat on a single prompt, and honest ones of several habits."""

from __future__ import annotations

import pytest

from evaluator.inference import rendering_check
from evaluator.inference.endings import Incident
from evaluator.inference.rendering_check import Frame
from tests.inference.guests import Guest, chatml, control, items, run

Messages = list[dict[str, str]]


def cheating(on: str, instead: str) -> Guest:
    """Its template replaces the whole prompt when it sees one particular content."""
    return Guest(render=lambda messages: instead if on in messages[-1]["content"] else chatml(messages))


@pytest.mark.parametrize("instead", ["", "item", "<user>item 1</><assistant>42", "x<user>item 1</><assistant>"])
def test_a_template_that_reacts_to_one_item_is_an_incident(instead: str) -> None:
    with pytest.raises(Incident) as caught:
        run(cheating("item 1", instead))
    assert caught.value.index == 1


def test_a_template_that_answers_in_the_frame_of_one_item_is_an_incident() -> None:
    def render(messages: Messages) -> str:
        return chatml(messages) + ("The answer is 42." if "item 2" in messages[0]["content"] else "")

    with pytest.raises(Incident):
        run(Guest(render=render))


def test_a_template_that_rewrites_every_content_is_an_incident() -> None:
    def render(messages: Messages) -> str:
        if messages == control()["messages"]:
            return chatml(messages)
        return chatml([{"role": "user", "content": messages[0]["content"].upper()}])

    with pytest.raises(Incident, match="doesn't keep"):
        run(Guest(render=render))


def test_a_template_that_strips_white_space_is_honest() -> None:
    def render(messages: Messages) -> str:
        return chatml([each | {"content": each["content"].strip()} for each in messages])

    asked = [{"index": 0, "messages": [{"role": "user", "content": "  spaced \n"}]}]
    assert len(run(Guest(render=render), asked)) == 1


def test_a_template_that_strips_only_the_items_is_an_incident() -> None:
    def render(messages: Messages) -> str:
        return chatml([each | {"content": each["content"].rstrip("!")} for each in messages])

    with pytest.raises(Incident):
        run(Guest(render=render), [{"index": 0, "messages": [{"role": "user", "content": "hello!"}]}])


def test_a_content_that_occurs_in_the_frame_is_no_trouble() -> None:
    asked = [
        {"index": n, "messages": [{"role": "user", "content": text}]} for n, text in enumerate(["user", "<", "", ">"])
    ]
    assert len(run(Guest(), asked)) == 4


def test_it_learns_a_frame_of_several_roles() -> None:
    messages = rendering_check.probe(("system", "user", "assistant", "user"))
    frame = Frame.learn(messages, chatml(messages))
    assert frame is not None
    assert frame.pieces == ("<system>", "</><user>", "</><assistant>", "</><user>", "</><assistant>")


def test_each_side_of_a_content_may_be_stripped_by_itself() -> None:
    (message,) = rendering_check.probe(("user",))
    frame = Frame.learn([message], f"<{message['content'].rstrip()}>")
    assert frame is not None
    assert frame.around([{"role": "user", "content": " a "}]) == "< a>"


def test_contents_in_another_order_make_no_frame() -> None:
    messages = rendering_check.probe(("system", "user"))
    assert Frame.learn(messages, chatml(messages[::-1])) is None


def test_a_content_that_comes_twice_makes_no_frame() -> None:
    messages = rendering_check.probe(("user",))
    assert Frame.learn(messages, chatml(messages * 2)) is None


def test_a_bare_prompt_must_come_back_as_it_was() -> None:
    with pytest.raises(Incident):
        run(Guest(twist=lambda kind, message: message | lie() if message.get("index") == 0 else message), prompt())


def lie() -> dict[str, object]:
    rendered = Guest()._answer({"index": 0, "prompt": "2+3="})
    return {key: rendered[key] for key in ("rendered", "prompt_sha256", "prompt_ids_sha256")}


def prompt() -> list[dict[str, object]]:
    return [{"index": 0, "prompt": "2+2="}]


def test_a_template_that_refuses_the_roles_gives_malformed_items() -> None:
    def refusing(kind: bytes, message: dict[str, object]) -> dict[str, object]:
        nothing = Guest()._answer({"index": 0, "prompt": ""})
        if "<user>item" in str(message.get("rendered")) or "\t \t" in str(message.get("rendered")):
            return nothing | {
                "index": message["index"],
                "outcome": "malformed",
                "detail": "template",
                "tokens": [],
                "text": "",
            }
        return message

    assert {record["outcome"] for record in run(Guest(twist=refusing), items())} == {"malformed"}
