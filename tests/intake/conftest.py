"""A good checkpoint for each test, and admission with limits that keep hostile ones short."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evaluator.errors import Refused
from evaluator.intake import Admission, Limits, admit
from tests.checkpoints import tiny_checkpoint

QUICK = Limits(tokenizer_cpu_s=3, template_cpu_s=2, wall_s=60.0)


@pytest.fixture
def good(tmp_path: Path) -> Path:
    return tiny_checkpoint(tmp_path / "checkpoint")


def refused(folder: Path, **limits: Any) -> dict[str, str]:
    """The findings of a folder that must be refused: places by code."""
    with pytest.raises(Refused) as refusal:
        admit(folder, limits=Limits(**{"tokenizer_cpu_s": 3, "template_cpu_s": 2, **limits}))
    return {finding.code: finding.where for finding in refusal.value.findings}


def admitted(folder: Path) -> Admission:
    return admit(folder, limits=QUICK)


def read_json(path: Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return value
