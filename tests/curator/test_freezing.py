"""A frozen release: who gets what, that the order tells nothing, and that repeating it doubles nothing."""

from __future__ import annotations

import dataclasses
import io
import json
import uuid
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from evaluator import blobs
from evaluator.curator import demo_tasks, freezing, importing
from evaluator.errors import Misuse, Refused
from evaluator.vault import answers, items, prompts
from evaluator.vault.keyring import NoKey
from evaluator.vault.sealing import PackRef
from tests import keyrings
from tests.curator.conftest import line

RELEASE = uuid.UUID("8c4e3f2a-0000-4000-8000-000000000001")
KEY = b"k" * 32
SPLITS = ("practice", "reserve", "active")

Freeze = Callable[..., freezing.FrozenRelease]


def tasks(count: int = 30, **fields: Any) -> list[importing.Item]:
    """Items whose prompts hold their number and split in the clear, in the order practice, reserve, active, …"""
    data = b"".join(
        line(number, split=SPLITS[number % 3], prompt=f"CANARY-{SPLITS[number % 3]} {number} + 0 =", **fields)
        for number in range(count)
    )
    return importing.load(io.BytesIO(data), "tasks.jsonl")[1]


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> keyrings.Keys:
    return keyrings.make(tmp_path_factory.mktemp("keys"))


@pytest.fixture
def stores(tmp_path: Path) -> freezing.Stores:
    return freezing.Stores(blobs.packs(tmp_path), blobs.practice(tmp_path))


@pytest.fixture
def freeze(keys: keyrings.Keys, stores: freezing.Stores) -> Freeze:
    def frozen(found: list[importing.Item], release: uuid.UUID = RELEASE, key: bytes = KEY) -> freezing.FrozenRelease:
        return freezing.freeze(found, release=release, key=key, keyring=keys.ring("curator"), stores=stores)

    return frozen


def stored(stores: freezing.Stores, ref: PackRef) -> bytes:
    return stores.packs.get(ref.sealed)


def test_the_runner_gets_prompts_without_answers_reserve_or_split(
    freeze: Freeze, stores: freezing.Stores, keys: keyrings.Keys
) -> None:
    ref = freeze(tasks()).prompts
    pack = prompts.unseal(ref, stored(stores, ref), keys.ring("runner"))
    assert [record["index"] for record in pack.records] == list(range(20))
    assert all(record.keys() == {"index", "prompt"} for record in pack.records)
    assert not any("CANARY-reserve" in record["prompt"] for record in pack.records)


def test_the_grader_gets_answers_without_prompts_or_reserve(
    freeze: Freeze, stores: freezing.Stores, keys: keyrings.Keys
) -> None:
    ref = freeze(tasks()).answers
    pack = answers.unseal(ref, stored(stores, ref), keys.ring("grader"))
    assert len(pack.records) == 20
    assert {record["split"] for record in pack.records} == {"practice", "active"}
    assert "CANARY" not in json.dumps(pack.records)


def test_each_prompt_meets_its_own_answer(freeze: Freeze, stores: freezing.Stores, keys: keyrings.Keys) -> None:
    frozen = freeze(tasks())
    ring = keys.ring("auditor")
    asked = prompts.unseal(frozen.prompts, stored(stores, frozen.prompts), ring).records
    gold = answers.unseal(frozen.answers, stored(stores, frozen.answers), ring).records
    for one, other in zip(asked, gold, strict=True):
        assert one["index"] == other["index"]
        assert one["prompt"].split()[1] == other["answer"][0]
        assert other["split"] in one["prompt"]


def test_the_whole_release_is_for_curator_and_auditor(
    freeze: Freeze, stores: freezing.Stores, keys: keyrings.Keys
) -> None:
    ref = freeze(tasks()).items_pack
    pack = items.unseal(ref, stored(stores, ref), keys.ring("curator"))
    assert bytes.fromhex(pack.header["key"]) == KEY
    assert [record["item"]["id"] for record in pack.records] == [f"item-{number}" for number in range(30)]
    assert [record["position"] is None for record in pack.records] == [number % 3 == 1 for number in range(30)]
    for stranger in ("runner", "grader"):
        with pytest.raises(NoKey):
            items.unseal(ref, stored(stores, ref), keys.ring(stranger))


def test_practice_items_are_open_and_nothing_else_is(freeze: Freeze, stores: freezing.Stores) -> None:
    frozen = freeze(tasks())
    header, *records = map(json.loads, stores.practice.get(frozen.practice).splitlines())
    assert header == {"format": "heldout.practice/1", "release": str(RELEASE), "count": 10}
    assert {record["split"] for record in records} == {"practice"}
    assert all("CANARY-practice" in record["prompt"] for record in records)
    packs = [path.read_bytes() for path in stores.packs.folder.rglob("*.age")]
    assert len(packs) == 3
    assert not any(b"CANARY" in data for data in packs)


def test_the_order_tells_neither_the_file_nor_the_split(freeze: Freeze) -> None:
    rows = [row for row in freeze(tasks(300)).items if row.index is not None]
    assert [row.index for row in rows] != sorted(row.index or 0 for row in rows)
    by_index = sorted(rows, key=lambda row: row.index or 0)
    changes = sum(one.split != two.split for one, two in pairwise(by_index))
    assert 70 < changes < 130  # 100 expected of 199 neighbours


def test_another_release_or_key_has_another_order(freeze: Freeze) -> None:
    def order(frozen: freezing.FrozenRelease) -> list[int | None]:
        return [row.index for row in frozen.items]

    found = tasks()
    first = order(freeze(found))
    assert order(freeze(found)) == first
    assert order(freeze(found, key=b"o" * 32)) != first
    assert order(freeze(found, release=uuid.UUID(int=1))) != first


def test_freezing_again_gives_the_same_contents_and_rows(freeze: Freeze) -> None:
    one, two = freeze(tasks()), freeze(tasks())
    for name in ("prompts", "answers", "items_pack"):
        assert getattr(one, name).content == getattr(two, name).content
    assert (one.practice, one.counts, one.items) == (two.practice, two.counts, two.items)


def test_a_group_keeps_its_name_in_the_next_release_and_an_item_does_not(freeze: Freeze) -> None:
    one, two = freeze(tasks()), freeze(tasks(), release=uuid.UUID(int=1))
    assert [row.group for row in one.items] == [row.group for row in two.items]
    assert not {row.id for row in one.items} & {row.id for row in two.items}


def test_the_key_comes_back_from_the_release_to_the_curator(
    freeze: Freeze, stores: freezing.Stores, keys: keyrings.Keys
) -> None:
    ref = freeze(tasks()).items_pack
    assert freezing.key_of(ref, keyring=keys.ring("curator"), stores=stores) == KEY
    with pytest.raises(NoKey):
        freezing.key_of(ref, keyring=keys.ring("grader"), stores=stores)


def test_names_are_not_to_be_guessed_without_the_key(freeze: Freeze) -> None:
    one, two = freeze(tasks()), freeze(tasks(), key=b"o" * 32)
    assert not {row.group for row in one.items} & {row.group for row in two.items}


def test_versions_of_one_question_are_one_group(freeze: Freeze) -> None:
    data = line(1, prompt="How  many?") + line(2, prompt="how many?") + line(3, group="g") + line(4, group="g")
    rows = freeze(importing.load(io.BytesIO(data), "x")[1]).items
    assert len({row.group for row in rows}) == 2
    assert len({row.id for row in rows}) == 4


def test_counts_are_by_split_kind_and_category(freeze: Freeze) -> None:
    counts = freeze(tasks()).counts
    expected = {"items": 10, "groups": 10, "kinds": {"numeric": 10}, "categories": {"sums": 10}}
    assert counts == {"practice": expected, "reserve": expected, "active": expected}


def test_rows_hold_no_text(freeze: Freeze) -> None:
    for row in freeze(tasks()).items:
        shown = {**dataclasses.asdict(row), "id": "", "group": ""}
        assert set(shown.values()) <= {"", "numeric", "sums", *SPLITS, *range(20), None}


def test_a_release_without_active_items_is_refused(freeze: Freeze) -> None:
    practice = [item for item in tasks() if item.split == "practice"]
    with pytest.raises(Refused, match="No item is active"):
        freeze(practice)


def test_a_short_key_is_a_misuse(freeze: Freeze) -> None:
    with pytest.raises(Misuse):
        freeze(tasks(), key=b"short")


def test_the_demo_freezes(freeze: Freeze) -> None:
    _, found = importing.load(io.BytesIO(demo_tasks.task_file(bytes(32))), "demo.jsonl")
    assert {split: counts["items"] for split, counts in freeze(found).counts.items()} == demo_tasks.SIZES
