"""The tensors we expect of a configuration against those that transformers 5.24 wrote for it.

``fixtures/families.json``: one line per configuration, made by ``save_pretrained`` of a model of random weights.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from evaluator.errors import Refused
from evaluator.intake import config, tensors
from evaluator.intake.families import FAMILIES
from evaluator.intake.safetensors_header import Header, Tensor

_SAVED = json.loads((Path(__file__).parents[2] / "fixtures" / "families.json").read_text(encoding="utf-8"))
_HEADER = Header("model.safetensors", (), 0, b"")


def _found(shapes: dict[str, list[int]]) -> dict[str, tuple[Tensor, Header]]:
    return {
        name: (Tensor(name, "F32", tuple(shape), 0, 4 * math.prod(shape)), _HEADER) for name, shape in shapes.items()
    }


def _id(saved: dict[str, Any]) -> str:
    flags = [key for key, value in saved["config"].items() if value is True]
    return "-".join([saved["config"]["architectures"][0], *flags])


@pytest.mark.parametrize("saved", _SAVED, ids=_id)
def test_it_expects_what_transformers_writes(saved: dict[str, Any]) -> None:
    model = config.read(saved["config"], json.dumps(saved["config"]))

    assert tensors.compare(model, _found(saved["tensors"])).parameters == saved["parameters"]


@pytest.mark.parametrize("saved", _SAVED, ids=_id)
def test_it_misses_any_one_tensor(saved: dict[str, Any]) -> None:
    model = config.read(saved["config"], json.dumps(saved["config"]))
    for name in saved["tensors"]:
        fewer = {other: shape for other, shape in saved["tensors"].items() if other != name}
        with pytest.raises(Refused) as refusal:
            tensors.compare(model, _found(fewer))
        assert refusal.value.findings[0].code in ("tensor-missing", "head-missing")


def test_every_family_has_been_compared() -> None:
    assert {saved["config"]["architectures"][0] for saved in _SAVED} == set(FAMILIES)


def test_gpt2_may_leave_out_the_first_part_of_its_names() -> None:
    saved = next(saved for saved in _SAVED if saved["config"]["model_type"] == "gpt2")
    bare = {name.removeprefix("transformer."): shape for name, shape in saved["tensors"].items()}
    model = config.read(saved["config"], json.dumps(saved["config"]))

    assert tensors.compare(model, _found(bare)).parameters == saved["parameters"]


def test_buffers_of_old_exports_are_skipped() -> None:
    saved = _SAVED[0]
    old = {**saved["tensors"], "model.layers.0.self_attn.rotary_emb.inv_freq": [8]}
    model = config.read(saved["config"], json.dumps(saved["config"]))

    assert tensors.compare(model, _found(old)).parameters == saved["parameters"]


def test_a_missing_flag_means_what_the_loader_takes_it_for() -> None:
    saved = next(saved for saved in _SAVED if saved["config"]["model_type"] == "gemma")
    stated = {key: value for key, value in saved["config"].items() if key != "tie_word_embeddings"}

    assert config.read(stated, "").tied


def test_a_missing_flag_for_biases_means_that_there_are_some() -> None:
    saved = next(saved for saved in _SAVED if saved["config"]["model_type"] == "gpt_neox")
    stated = {key: value for key, value in saved["config"].items() if key != "attention_bias"}

    assert "gpt_neox.layers.0.attention.dense.bias" in config.read(stated, "").expected
