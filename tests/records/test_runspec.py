"""The RunSpec: complete, strict, hashed first, and shown whole."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from typing import Any

import pytest

from evaluator.errors import Refused
from evaluator.records.canonical import canonical, digest
from evaluator.records.runspec import Batch, Preset, RunSpec, describe
from tests.records import samples


def leaves(value: Any) -> int:
    if isinstance(value, dict) and value:
        return sum(map(leaves, value.values()))
    return 1


def test_it_is_right_and_reads_back_with_the_same_digest() -> None:
    spec = samples.runspec().checked("RunSpec")
    again = RunSpec.from_json(json.loads(canonical(spec.as_json())), "RunSpec")
    assert again.digest == spec.digest == digest(spec.as_json())


def test_its_digest_is_this_one_on_every_machine() -> None:
    assert samples.preset().digest == "sha256:62daf39f3d6922c8f5533dd17fa0b6548ed97c692bac497e0b8bb1998924d885"


@pytest.mark.parametrize("name", [item.name for item in fields(RunSpec)])
def test_no_part_may_be_missing(name: str) -> None:
    body = samples.runspec().as_json()
    del body[name]
    with pytest.raises(Refused, match=f'"{name}" is missing'):
        RunSpec.from_json(body, "RunSpec")


@pytest.mark.parametrize("part", ["checkpoint", "release", "preset", "engine", "code", "host", "isolation", "limits"])
def test_no_part_may_hold_anything_unknown(part: str) -> None:
    body = samples.runspec().as_json()
    body[part]["note"] = "x"
    with pytest.raises(Refused, match=f'RunSpec, {part}: "note" is no field'):
        RunSpec.from_json(body, "RunSpec")


@pytest.mark.parametrize(("path", "value"), [
    (("image",), samples.digest("0")), (("seeds", "sampling"), 1), (("engine", "flags", "threads"), 1),
    (("code", "dirty"), samples.digest("0")), (("code", "locks", "web"), samples.digest("0")),
    (("host", "driver"), "550.1"), (("host", "memory"), 1), (("isolation", "separate_users"), False),
    (("limits", "guaranteed", "memory"), 5), (("preset", "batch", "size"), 8), (("checkpoint", "template"), None),
    (("release", "answers"), samples.digest("0")), (("harness", "version"), "0.1.1"),
])  # fmt: skip
def test_every_difference_makes_another_digest(path: tuple[str, ...], value: object) -> None:
    body = samples.runspec().as_json()
    inner = body
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = value
    assert RunSpec.from_json(body, "RunSpec").digest != samples.runspec().digest


@pytest.mark.parametrize(("change", "says"), [
    ({"temperature": "0.7a"}, '"temperature" must be decimal text'), ({"temperature": 0}, '"temperature" must be'),
    ({"temperature": "-1"}, '"temperature"'), ({"top_p": "1.1"}, '"top_p"'), ({"top_p": "0"}, "leaves no token"),
    ({"max_tokens": 0}, '"max_tokens"'), ({"max_tokens": True}, '"max_tokens"'), ({"stop": [""]}, '"stop"'),
    ({"mode": "completion", "system": "x"}, "needs a chat template"), ({"mode": "base"}, '"mode" must be one of'),
    ({"context": 64}, "leaves no room"), ({"dtype": "int8"}, '"dtype"'), ({"seed": 2**32}, '"seed"'),
    ({"coverage_gate": "2"}, '"coverage_gate"'), ({"batch": Batch(policy="random", size=1)}, 'batch: "policy"'),
])  # fmt: skip
def test_a_preset_says_what_is_wrong_with_it(change: dict[str, Any], says: str) -> None:
    with pytest.raises(Refused, match=says):
        samples.preset(**change).checked("preset")


def test_all_mistakes_of_a_preset_are_told_at_once() -> None:
    with pytest.raises(Refused) as caught:
        samples.preset(mode="x", seed=-1, dtype="y").checked("preset")
    assert len(caught.value.findings) == 3


def test_a_preset_is_sent_whole() -> None:
    assert samples.preset().as_json() == {
        "name": "greedy", "version": "1", "mode": "chat", "system": None, "temperature": "0", "top_p": "1", "top_k": 0,
        "max_tokens": 64, "stop": ["\n\n"], "seed": 0, "dtype": "float32",
        "batch": {"policy": "length-sorted", "size": 16}, "context": None, "coverage_gate": "0.95",
    }  # fmt: skip


def test_a_preset_from_a_file_is_the_same_preset() -> None:
    preset = samples.preset(temperature="0.70")
    assert Preset.from_json(preset.as_json(), "preset") == replace(preset, stop=["\n\n"])
    assert not preset.greedy
    assert samples.preset().greedy


def test_the_engine_runs_in_the_type_that_the_preset_says() -> None:
    with pytest.raises(Refused, match="bfloat16, the preset says float32"):
        samples.runspec(dtype="bfloat16").checked("RunSpec")


def test_a_description_shows_every_field_once() -> None:
    spec = samples.runspec()
    groups = describe(spec)
    labels = [(group.title, row.label) for group in groups for row in group.rows]
    assert len(labels) == len(set(labels)) == leaves(spec.as_json()) + 1
    assert groups[0].rows[0].value == spec.digest


def test_a_description_says_which_values_are_digests_and_shows_what_is_missing() -> None:
    rows = {row.label: row for group in describe(samples.runspec()) for row in group.rows}
    assert (rows["weights"].kind, rows["kernel"].kind) == ("digest", "text")
    assert rows["file model.safetensors"].value == "sha256:" + "2" * 64
    assert (rows["dirty"].value, rows["separate users"].value, rows["stop"].value) == ("–", "yes", "'\\n\\n'")
