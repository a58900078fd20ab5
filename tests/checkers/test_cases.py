"""Every folder below ``fixtures/cases``: each output gets the verdict that its case states."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evaluator.checkers import KINDS, check, checker, right_output, validate_options

CASES = Path(__file__).resolve().parents[2] / "fixtures" / "cases"
FILES = sorted(CASES.glob("*/*/case.json"))


def load(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text(encoding="utf-8")))


def name(path: Path) -> str:
    return f"{path.parent.parent.name}/{path.parent.name}"


@pytest.mark.parametrize("path", FILES, ids=name)
def test_every_output_of_a_case_gets_its_verdict(path: Path) -> None:
    case = load(path)
    for output in case["outputs"]:
        verdict = check(case["kind"], output["text"], case["answer"], case["options"], case.get("choices"))
        assert (verdict.score, verdict.reason) == (output["score"], output["reason"]), output["text"]
        assert output.get("found", verdict.found) == verdict.found, output["text"]


@pytest.mark.parametrize("path", FILES, ids=name)
def test_every_case_is_an_item_that_would_be_taken(path: Path) -> None:
    case = load(path)
    assert case["kind"] == path.parent.parent.name
    assert validate_options(case["kind"], case["options"], case["answer"], case.get("choices")) == []


@pytest.mark.parametrize("path", FILES, ids=name)
def test_the_oracle_is_right_on_every_case(path: Path) -> None:
    case = load(path)
    item = checker(case["kind"], case["answer"], case["options"], case.get("choices"))
    for answer in case["answer"]:
        assert item.check(right_output(case["kind"], answer, case["options"])).right


def test_every_kind_has_its_folder_with_at_least_forty_cases() -> None:
    folders = {folder.name: len(list(folder.glob("*/case.json"))) for folder in CASES.iterdir() if folder.is_dir()}
    assert folders.keys() == KINDS.keys()
    assert min(folders.values()) >= 40


def test_every_kind_has_right_and_wrong_outputs_for_every_reason_it_can_give() -> None:
    seen = {(load(path)["kind"], output["reason"]) for path in FILES for output in load(path)["outputs"]}
    for kind in KINDS:
        assert {(kind, reason) for reason in ("equal", "different", "no-answer", "unfinished-thinking")} <= seen
        assert (kind, "equal+run-on") in seen
