"""Every lie of ``fixtures/hostile`` is refused by admission itself, with its code, its place and its remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluator.errors import Refused
from evaluator.intake import admit
from fixtures.hostile import ALL
from fixtures.hostile.lie import Lie, canary
from tests.intake.conftest import QUICK


@pytest.mark.parametrize("lie", ALL, ids=lambda lie: lie.name.replace(" ", "_"))
def test_it_refuses(lie: Lie, good: Path) -> None:
    lie.tell(good)

    with pytest.raises(Refused) as refusal:
        admit(good, limits=QUICK, needs_chat_template=lie.chat)

    told = [finding for finding in refusal.value.findings if finding.code == lie.code]
    assert any(finding.where.startswith(lie.where) and lie.remedy in finding.remedy for finding in told), (
        refusal.value.findings
    )
    assert not canary(good).exists()


def test_lies_have_names_of_their_own() -> None:
    assert len({lie.name for lie in ALL}) == len(ALL)
