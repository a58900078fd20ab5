"""A preset that a checkpoint can't serve is answered before anything runs (cases K01 and K21)."""

from __future__ import annotations

from pathlib import Path

from evaluator.intake import presets
from tests.checkpoints import tiny_checkpoint
from tests.intake.conftest import admitted


def test_chat_without_template_names_the_choice(tmp_path: Path) -> None:
    facts = admitted(tiny_checkpoint(tmp_path / "c", template=None)).facts

    (finding,) = presets.check(facts, chat=True)

    assert finding.code == "template-missing"
    assert "completion form" in finding.remedy
    assert "chat_template.jinja" in finding.remedy
    assert not presets.check(facts, chat=False)


def test_a_longer_context_than_the_checkpoint_has_is_told_with_both_numbers(good: Path) -> None:
    facts = admitted(good).facts

    (finding,) = presets.check(facts, chat=True, context=32768)

    assert "32768" in finding.problem
    assert "256" in finding.problem
    assert not presets.check(facts, chat=True, context=256)
