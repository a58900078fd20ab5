"""The demo benchmark: varied, drawn from a secret, without twins across the line."""

from __future__ import annotations

import io
import json
import re
from collections import Counter

import pytest

from evaluator import checkers
from evaluator.curator import demo_tasks, importing
from evaluator.curator.demo_words import KINDS, LOOK_ALIKE
from evaluator.curator.item import Item
from evaluator.errors import Misuse

SEED, OTHER = bytes(32), bytes([1]) * 32


@pytest.fixture(scope="module")
def items() -> list[Item]:
    return importing.load(io.BytesIO(demo_tasks.task_file(SEED)), "demo.jsonl")[1]


def question(item: Item) -> str:
    return str(item.asked()["messages"][-1]["content"])


def test_the_import_takes_it_like_anybody_s() -> None:
    assert importing.check(io.BytesIO(demo_tasks.task_file(OTHER)), "demo.jsonl").items == sum(
        demo_tasks.SIZES.values()
    )


def test_the_same_seed_gives_the_same_bytes_and_another_seed_other_items() -> None:
    one, two = demo_tasks.task_file(SEED), demo_tasks.task_file(OTHER)
    assert demo_tasks.task_file(SEED) == one
    shared = set(re.findall(rb'"content":"([^"]*)","role":"user"}\]', one))
    shared &= set(re.findall(rb'"content":"([^"]*)","role":"user"}\]', two))
    assert len(shared) < len(one.splitlines()) / 2


def test_each_seed_is_fresh() -> None:
    assert len(demo_tasks.new_seed()) == 32
    assert demo_tasks.new_seed() != demo_tasks.new_seed()


def test_it_has_at_least_300_items_in_the_promised_sizes(items: list[Item]) -> None:
    assert len(items) >= 300
    assert Counter(item.split for item in items) == demo_tasks.SIZES


def test_each_kind_fills_a_third_of_each_split(items: list[Item]) -> None:
    counts = Counter((item.split, item.kind) for item in items)
    assert {count for (split, _), count in counts.items() if split == "active"} == {demo_tasks.SIZES["active"] // 3}
    assert len(counts) == 9


def test_no_question_is_there_twice_and_no_group_on_both_sides(items: list[Item]) -> None:
    assert len({question(item) for item in items}) == len(items)
    sides: dict[bytes, set[str]] = {}
    for item in items:
        sides.setdefault(item.group, set()).add(item.split)
    assert all(len(splits) == 1 for splits in sides.values())
    assert len(sides) < len(items)  # some groups have two items, so that clusters matter


def test_it_is_drawn_from_many_families(items: list[Item]) -> None:
    assert len({family.name for family in demo_tasks.FAMILIES}) >= 15
    assert len({item.record["tags"][0] for item in items if item.split == "active"}) >= 40
    assert len({item.category for item in items}) >= 8


def test_prompts_and_answers_are_short(items: list[Item]) -> None:
    for item in items:
        assert sum(len(message["content"]) for message in item.asked()["messages"]) < 160
        assert all(len(answer) < 30 for answer in item.record["answer"])


@pytest.mark.parametrize("seed", range(8))
def test_the_worked_example_is_never_the_question(seed: int) -> None:
    for item in map(json.loads, demo_tasks.task_file(seed.to_bytes(32, "big")).splitlines()):
        assert item["messages"][1]["content"] != item["messages"][-1]["content"]


def test_the_worked_example_is_right_by_the_family_s_own_kind() -> None:
    for family in demo_tasks.FAMILIES:
        if family.kind == "numeric":
            shown = family.example[1]
            assert checkers.check("numeric", shown, [shown.rpartition("=")[2].strip()]).right


def test_which_of_three_words_has_one_answer(items: list[Item]) -> None:
    kind_of = {word: kind for kind, several in KINDS.items() for word in several}
    assert len(kind_of) == sum(map(len, KINDS.values()))
    for item in items:
        asked = item.record["tags"][0]
        if item.category == "choosing":
            kinds = [kind_of[word] for word in item.record["choices"]]
            assert kinds.count(asked) == 1
            assert not LOOK_ALIKE.get(asked, set()) & set(kinds)


@pytest.mark.parametrize("answer", ["", "yes", "no", "A", "0", "1", "true", "Paris", "I don't know."])
def test_one_constant_answer_gets_almost_nothing(items: list[Item], answer: str) -> None:
    active = [item for item in items if item.split == "active"]
    gold = [item.gold() for item in active]
    right = [
        checkers.check(one["kind"], answer, one["answer"], one["checker"], one.get("choices")).right for one in gold
    ]
    assert sum(right) / len(right) < 0.2


def test_sizes_that_can_t_be_filled_are_a_misuse() -> None:
    with pytest.raises(Misuse, match="can't fill"):
        demo_tasks.task_file(SEED, {"practice": 1_000_000, "reserve": 3, "active": 3})
