"""Read a task file: every item in it, or a refusal that lists every mistake by line and column, and nothing else.

What is checked, in this order (each kind of mistake leaves the item out, so later rules see sound items only):

1. lines and JSON (``lines``);
2. the item's keys and what goes together (``item``);
3. the kind, its checker's options, and that each gold answer passes its own checker;
4. across the file: no id twice; no group on both sides of the line between practice and hidden; not empty.

Items without a ``group`` that ask the same text, case and spaces aside, are one group.

Reading is streamed. What grows with the file is the table of ids and groups alone, and ``MOST_ITEMS`` bounds it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from evaluator import checkers
from evaluator.checkers import table
from evaluator.curator import item as items
from evaluator.curator import positions
from evaluator.curator.item import Item, Problem
from evaluator.curator.lines import Line, Source, read
from evaluator.errors import Finding, Refused

MOST_FINDINGS = 100
"""After so many mistakes the reading stops: the file is not what it was taken for."""

MOST_ITEMS = 1_000_000

_GOLD_RULES = {
    "choice": 'Give 2 to 26 different "choices"; the answer is a letter from A on, or the very text of one of them.',
    "exact": "Something must be left of the answer after the checker's normalisation.",
    "numeric": 'Write one number and nothing else; name a unit in the checker\'s "units" and say its "unit_rule".',
}


@dataclass(frozen=True)
class Receipt:
    """What was read. ``original`` is the digest of the bytes as they came, ``normalised`` that of the same records
    without byte-order mark, carriage returns and blank lines. ``notes`` say what was overlooked on purpose."""

    name: str
    original: str
    normalised: str
    items: int
    notes: tuple[str, ...]


def check(stream: BinaryIO, name: str) -> Receipt:
    """The receipt of a sound task file, in flat memory. Raises ``Refused`` for any other."""
    reading = _Reading(Source(name))
    for _ in reading.items(stream):
        pass
    return reading.receipt()


def load(stream: BinaryIO, name: str) -> tuple[Receipt, list[Item]]:
    """The receipt and all items of a sound task file. Raises ``Refused`` for any other."""
    reading = _Reading(Source(name))
    found = list(reading.items(stream))
    return reading.receipt(), found


class _Reading:
    """One file on its way. Its items count only after ``receipt`` has not refused."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._findings: list[Finding] = []
        self._count = 0
        self._ids: dict[str, int] = {}
        self._sides: dict[bytes, tuple[bool, int]] = {}

    def items(self, stream: BinaryIO) -> Iterator[Item]:
        for line in read(stream, self._source):
            if isinstance(line, Finding):
                self._findings.append(line)
            elif found := items.problems(line.value) or _gold(line.value):
                self._findings += [self._finding(line, problem) for problem in found]
            else:
                made = items.build(line.number, line.value)
                self._findings += [self._finding(line, problem) for problem in self._repeated(made)]
                self._count += 1
                yield made
            if len(self._findings) >= MOST_FINDINGS or self._count > MOST_ITEMS:
                return

    def receipt(self) -> Receipt:
        if found := [*self._findings[:MOST_FINDINGS], *self._about_the_whole()]:
            raise Refused(found)
        source = self._source
        original, normalised = (f"sha256:{digest.hexdigest()}" for digest in (source.original, source.normalised))
        return Receipt(source.name, original, normalised, self._count, tuple(_notes(source)))

    def _about_the_whole(self) -> Iterator[Finding]:
        if len(self._findings) >= MOST_FINDINGS:
            yield self._whole("more", f"Reading stopped after {MOST_FINDINGS} mistakes.", "Mend these first.")
        if self._count > MOST_ITEMS:
            yield self._whole("too-many", f"There are more than {MOST_ITEMS} items.", "Split the file.")
        if not self._findings and not self._count:
            yield self._whole("empty", "There is no item.", "Write one JSON object a line.")

    def _whole(self, code: str, problem: str, remedy: str) -> Finding:
        return Finding(f"items.{code}", self._source.name, problem, remedy)

    def _finding(self, line: Line, problem: Problem) -> Finding:
        column = positions.key(line.text, problem.key) if problem.key else 1
        return Finding(
            f"items.{problem.code}", self._source.where(line.number, column), problem.problem, problem.remedy
        )

    def _repeated(self, item: Item) -> Iterator[Problem]:
        """Mistakes that only two lines together make."""
        first = self._ids.setdefault(item.id, item.line)
        if first != item.line:
            problem = f"Lines {first} and {item.line} have the same id."
            yield Problem("duplicate-id", "id", problem, "Give each item an id of its own.")
        practice = item.split == "practice"
        side, first = self._sides.setdefault(item.group, (practice, item.line))
        if side != practice:
            problem = f"Lines {first} and {item.line} are versions of one item, but only one of them is for practice."
            yield Problem("torn-group", "split", problem, "Keep a group on one side of practice and hidden.")


def _gold(record: Mapping[str, Any]) -> list[Problem]:
    """What the checker has against the item, its gold answers among it: each must pass its own checker.

    Findings about answers are worded here, because the checker's own quote the answer.
    """
    kind, options, choices = record["kind"], record.get("checker", {}), record.get("choices")
    answers = [record["answer"]] if isinstance(record["answer"], str) else record["answer"]
    if not options and _passes(kind, answers, choices):
        return []
    found = checkers.validate_options(kind, options, answers, choices)
    others = [finding for finding in found if finding.code != "checker.answer"]
    if others or not found:
        return [_option_problem(record, finding) for finding in others]
    unfit = [number for number, answer in enumerate(answers, 1)
             if checkers.validate_options(kind, options, [answer], choices)]  # fmt: skip
    named = f"Answer {', '.join(map(str, unfit))}" if len(answers) > 1 and unfit else "The answer"
    return [Problem("gold", "answer", f"{named} can't be read by the item's own checker, or is wrong by it.",
                    _GOLD_RULES.get(kind, "Change the answer or the checker's options."))]  # fmt: skip


def _passes(kind: str, answers: Sequence[str], choices: Sequence[str] | None) -> bool:
    """A quick yes for the many items without options. Where it says no, the checker's own rules say why."""
    try:
        item = checkers.checker(kind, answers, {}, choices)
    except ValueError:
        return False
    fitting = len(answers) <= table.MOST_ANSWERS and max(map(len, answers)) <= table.LONGEST_GOLD
    return fitting and all(item.check(answer).right for answer in answers)


def _option_problem(record: Mapping[str, Any], finding: Finding) -> Problem:
    place = "kind" if finding.code == "checker.kind" else "choices" if finding.code == "checker.choices" else "checker"
    problem = finding.problem[:1].upper() + finding.problem[1:]
    return Problem(finding.code.replace(".", "-"), place if place in record else "", problem, finding.remedy)


def _notes(source: Source) -> Iterator[str]:
    if source.marked:
        yield "A byte-order mark was dropped."
    if source.carriage_returns:
        yield f"{source.carriage_returns} lines ended with carriage return and line feed; read as line feed."
