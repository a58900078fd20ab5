"""The closed list of names."""

from __future__ import annotations

import pytest

from evaluator.intake import names
from evaluator.intake.names import Role


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("config.json", Role.CONFIG),
        ("tokenizer.json", Role.TOKENIZER),
        ("model.safetensors", Role.WEIGHTS),
        ("model-00001-of-00002.safetensors", Role.WEIGHTS),
        ("LICENSE", Role.TEXT),
    ],
)
def test_it_knows_what_a_checkpoint_holds(name: str, role: Role) -> None:
    assert names.role(name) is role
    assert names.check([name]) == []


@pytest.mark.parametrize(
    "name",
    [
        "model-1-of-2.safetensors",
        "model-00001-of-00002.safetensors\n",
        "Model.safetensors",
        "config.json.bak",
        "sub/config.json",
        "..",
        "",
        "model.safetensors ",
        "tokenizer.model",
        "nul\x00l",
        "\u202econfig.json",
    ],
)
def test_it_takes_no_other(name: str) -> None:
    (finding,) = names.check([name])

    assert names.role(name) is None
    assert finding.where.isprintable()
    assert finding.remedy


def test_two_forms_of_one_name_collide() -> None:
    codes = [finding.code for finding in names.check(["config.json", "CONFIG.json", "ｃonfig.json"])]

    assert codes.count("case-collision") == 2
