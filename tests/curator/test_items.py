"""One item: each key, what goes together, and gold that passes its own checker."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pytest

from evaluator.curator import importing
from tests.curator.conftest import NAME, findings, good, line

Places = Callable[[bytes], list[tuple[str, str]]]

USER = {"role": "user", "content": "2 + 2 ="}
ASSISTANT = {"role": "assistant", "content": "4"}
SYSTEM = {"role": "system", "content": "Be brief."}


def codes(**fields: Any) -> list[str]:
    return [found.code.removeprefix("items.") for found in findings(line(**fields))]


def loaded(**fields: Any) -> importing.Item:
    _, [item] = importing.load(io.BytesIO(line(**fields)), NAME)
    return item


def test_an_item_with_every_key_is_taken() -> None:
    item = loaded(checker={"tolerance": "0.5"}, split="practice", group="g", difficulty=0.25, tags=["easy"],
                  reference="1 and nothing", answer=["1", "1.0"])  # fmt: skip
    assert item.record["difficulty"] == "0.25"
    assert item.gold()["answer"] == ["1", "1.0"]


def test_what_is_left_open_gets_its_default() -> None:
    assert (loaded().split, loaded().gold()["checker"], loaded().gold()["answer"]) == ("active", {}, ["1"])


@pytest.mark.parametrize("name", ["id", "kind", "answer", "category"])
def test_each_required_key_is_missed_by_name(name: str) -> None:
    [found] = findings(line(**{name: ...}))
    assert found.code == "items.missing"
    assert f'"{name}"' in found.problem


def test_an_unknown_key_is_refused_by_name_with_a_guess(places: Places) -> None:
    [found] = findings(line(answr="4"))
    assert found.code == "items.unknown-key"
    assert '"answr"' in found.problem
    assert found.remedy == 'Did you mean "answer"?'
    assert findings(line(zzz=1))[0].remedy == "Remove it."


def test_the_column_is_that_of_the_key(places: Places) -> None:
    data = json.dumps(good(category=7))
    column = data.index('"category"') + 1
    assert places(data.encode()) == [("field", f"line 1, column {column}")]


def test_the_column_is_not_that_of_a_key_further_in(places: Places) -> None:
    data = json.dumps({"checker": {"category": "x"}, **good(category=7)})
    assert places(data.encode()) == [("field", f"line 1, column {data.rindex('category')}")]


@pytest.mark.parametrize(
    "fields",
    [
        {"id": ""}, {"id": 5}, {"id": "x" * 201}, {"category": " "}, {"kind": None}, {"answer": ""}, {"answer": []},
        {"answer": 4}, {"answer": ["4", ""]}, {"split": "test"}, {"group": ""}, {"tags": "easy"}, {"difficulty": True},
        {"reference": 4}, {"checker": []}, {"checker": {"tolerance": 0.5}}, {"checker": {"naïve": "x"}},
        {"prompt": "\n"}, {"choices": ["only"]}, {"choices": "AB"},
    ],
)  # fmt: skip
def test_a_value_of_the_wrong_kind_is_refused(fields: dict[str, Any]) -> None:
    assert codes(**fields) == ["field"]


@pytest.mark.parametrize("roles", [[USER], [SYSTEM, USER], [USER, ASSISTANT, USER], [SYSTEM, USER, ASSISTANT, USER]])
def test_messages_take_turns(roles: list[dict[str, str]]) -> None:
    assert loaded(prompt=..., messages=roles).asked() == {"messages": roles}


@pytest.mark.parametrize(
    "roles", [[SYSTEM], [ASSISTANT], [USER, USER], [USER, ASSISTANT], [USER, SYSTEM, USER], [SYSTEM, SYSTEM, USER]]
)
def test_messages_out_of_turn_are_refused(roles: list[dict[str, str]]) -> None:
    [found] = findings(line(prompt=..., messages=roles))
    assert "out of turn" in found.problem


@pytest.mark.parametrize(
    "messages", [[], "hi", [USER, "x"], [{"role": "user"}], [{**USER, "name": "x"}], [{"role": "tool", "content": "x"}],
                 [{"role": ["user"], "content": "x"}], [{"role": "user", "content": " "}]]
)  # fmt: skip
def test_messages_of_another_shape_are_refused(messages: Any) -> None:
    [found] = findings(line(prompt=..., messages=messages))
    assert found.problem.startswith('"messages" must be a list of')


def test_an_item_asks_in_exactly_one_way() -> None:
    assert codes(prompt=...) == ["missing"]
    assert codes(messages=[USER]) == ["missing"]


def test_an_unknown_kind_is_refused_by_name() -> None:
    [found] = findings(line(kind="exakt"))
    assert found.code == "items.checker-kind"
    assert "exakt" in found.problem
    assert "numeric" in found.remedy


@pytest.mark.parametrize("checker", [{"tolerence": "1"}, {"tolerance": "-1"}, {"rule": "first"}])
def test_an_unknown_or_impossible_option_is_refused(checker: dict[str, str]) -> None:
    [found] = findings(line(checker=checker))
    column = json.dumps(good(checker=checker)).index('"checker"') + 1
    assert found.where.endswith(f"column {column}")


@pytest.mark.parametrize(
    "fields",
    [
        {"answer": "four"}, {"answer": "4 or 5"}, {"kind": "exact", "answer": "..."},
        {"kind": "choice", "answer": "A"}, {"kind": "choice", "answer": "D", "choices": ["x", "y", "z"]},
        {"kind": "choice", "answer": "A", "choices": ["x", "X"]}, {"answer": ["4"] * 101},
        {"kind": "exact", "answer": "<think>never closed"},
    ],
)  # fmt: skip
def test_gold_that_its_own_checker_would_mark_wrong_is_refused(fields: dict[str, Any]) -> None:
    assert codes(**fields) == ["gold"]


def test_the_unfit_one_of_several_answers_is_counted_and_none_is_quoted() -> None:
    [found] = findings(line(answer=["1", "CANARY", "2"], checker={"rule": "last"}))
    assert "Answer 2 " in found.problem
    assert "CANARY" not in str(found)


@pytest.mark.parametrize(
    "fields",
    [
        {"answer": "CANARY"}, {"prompt": "CANARY", "messages": [USER]}, {"reference": "CANARY", "category": 1},
        {"checker": {"units": "CANARY"}}, {"kind": "choice", "choices": ["CANARY", "CANARY"], "answer": "CANARY"},
    ],
)  # fmt: skip
def test_no_message_quotes_what_may_be_hidden(fields: dict[str, Any]) -> None:
    found = findings(line(**fields))
    assert found
    assert "CANARY" not in " ".join(map(str, found))


def test_two_items_with_one_id_are_refused_with_both_lines() -> None:
    [found] = findings(line(1) + line(2) + b"\n" + line(3, id="item-1"))
    assert found.code == "items.duplicate-id"
    assert "Lines 1 and 4" in found.problem


def test_a_group_on_both_sides_is_refused_with_both_lines() -> None:
    [found] = findings(line(1, group="g", split="practice") + line(2, group="g", split="reserve"))
    assert found.code == "items.torn-group"
    assert "Lines 1 and 2" in found.problem


def test_reserve_and_active_are_one_side() -> None:
    assert findings(line(1, group="g", split="active") + line(2, group="g", split="reserve")) == []


def test_the_same_question_on_both_sides_is_refused_without_a_named_group() -> None:
    one, two = line(1, prompt="How  many?", split="practice"), line(2, prompt="how ｍany?")
    assert [found.code for found in findings(one + two)] == ["items.torn-group"]


def test_a_group_s_name_is_no_question(places: Places) -> None:
    one, two = line(1, prompt="how many?", split="practice"), line(2, group="how many?")
    assert findings(one + two) == []


def test_every_mistake_of_a_file_is_listed_and_nothing_is_taken(places: Places) -> None:
    data = line(1) + b"{\n" + line(2, answer=...) + line(3, kind="x", category=1) + line(1)
    assert [code for code, _ in places(data)] == ["json", "missing", "field", "duplicate-id"]
