"""A good checkpoint for each test, and admission with limits that keep hostile ones short."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluator.intake import Limits
from tests.checkpoints import tiny_checkpoint

QUICK = Limits(tokenizer_cpu_s=3, template_cpu_s=2, wall_s=60.0)


@pytest.fixture
def good(tmp_path: Path) -> Path:
    return tiny_checkpoint(tmp_path / "checkpoint")
