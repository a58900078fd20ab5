"""The documented format is the one that is read: docs/packs.md fails the suite when it falls behind."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest

from evaluator import checkers
from evaluator.checkers import table
from evaluator.curator import importing, item
from evaluator.records import packs, verdicts
from evaluator.vault import items, journal
from tests.curator.conftest import findings, line

TEXT = (Path(__file__).parents[2] / "docs" / "packs.md").read_text()
FORMATS = {
    kind.name: kind
    for kind in (packs.PROMPTS, packs.ANSWERS, packs.OUTPUTS, verdicts.VERDICTS, items.ITEMS, journal.CHUNK)
}


def rows(first: str) -> list[list[str]]:
    """The cells of each table row whose first cell is a code word, in the section that begins with ``first``."""
    section = TEXT.partition(f"\n## {first}")[2].partition("\n## ")[0]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in section.splitlines() if row[:3] == "| `"]


def words(cell: str) -> set[str]:
    return set(re.findall(r"`([^`]+)`", cell))


def test_the_example_is_taken() -> None:
    block = re.search(r"```json\n(.*?)```", TEXT, re.DOTALL)
    assert block is not None
    assert importing.check(io.BytesIO(block[1].encode()), "docs/packs.md").items == 3


def test_every_key_of_an_item_is_described_and_no_other() -> None:
    described = rows("The task file")
    assert {cells[0].strip("`") for cells in described} == set(item.FIELDS)
    assert {cells[0].strip("`") for cells in described if cells[1] == "required"} == set(item.REQUIRED)


def test_every_kind_and_option_is_described_and_no_other() -> None:
    described = {cells[0].strip("`"): words(cells[2]) for cells in rows("Kinds and their checkers")}
    assert described == {kind: set(table.KINDS[kind].options) for kind in checkers.KINDS}


@pytest.mark.parametrize("name", FORMATS)
def test_every_key_of_a_pack_is_described_and_no_other(name: str) -> None:
    [cells] = [cells for cells in rows("The sealed packs") if cells[0] == f"`{name}`"]
    if name != "heldout.journal/1":  # described by naming the outputs
        keys = {key for variant in FORMATS[name].variants for key in variant}
        assert words(cells[3]) == (keys | FORMATS[name].header.keys()) - {"format"}


@pytest.mark.parametrize(
    "made", [b'{"id": "x" "kind"}\n', b"[]\n", b'{"answer": "4", "answer": "5"}\n', line(1) + line(1)]
)
def test_the_quoted_messages_are_real(made: bytes) -> None:
    [found] = findings(made)
    problem = re.sub(r"Lines \d+ and \d+", "Lines 2 and 9", found.problem)
    assert f"{problem} {found.remedy}" in TEXT
