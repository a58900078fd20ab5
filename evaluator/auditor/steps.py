"""Replay a grade: make it again from the sealed packs, with the auditor's own key, and compare every digest.

The steps, in this order; the first that fails is the last:

1. grader         the code that grades here has the digest that the grade cites
2. configuration  it has the digest that the grade cites
3. outputs        the sealed file has its name's digest, opens, holds the content that was named, and is of this run
4. answers        the same, and of this release
5. verdicts       graded again, they have the content digest that the grade cites; else the first item that differs
6. stored verdicts    the sealed file has its name's digest, opens, and holds the same
7. scorecard      made again, it has the digest that the grade cites, and so has the one on record
8. signature      the envelope's signature is the grader's, and it signs exactly the scorecard made again

Nothing is believed because the ledger says so, but for one thing: which packs were released. A replay proves that
*these* outputs and answers give *this* score under *this* grader, byte for byte. That the outputs are what the model
said is for the runner's provenance and for re-running samples.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evaluator.blobs import Blobs
from evaluator.checkers.grading import Graded, grade
from evaluator.checkers.identity import REPLAY, grader_digest
from evaluator.errors import IntegrityError, Refused
from evaluator.records.canonical import digest
from evaluator.records.packs import Pack
from evaluator.records.scorecard import GradingConfig, statement
from evaluator.vault import answers, outputs, signatures, verdicts
from evaluator.vault.keyring import Keyring, NoKey
from evaluator.vault.sealing import PackRef


@dataclass(frozen=True)
class RecordedGrade:
    """A grade as the ledger has it. Ids are the text of UUIDs; the last three are JSON."""

    run: str
    runspec: str
    release: str
    outputs: PackRef
    answers: PackRef
    verdicts: PackRef
    grader: str
    config_digest: str
    scorecard_digest: str
    config: Mapping[str, Any]
    scorecard: Mapping[str, Any]
    envelope: Mapping[str, Any]


@dataclass(frozen=True)
class Step:
    """One step of a replay in words."""

    name: str
    passed: bool
    words: str

    def __str__(self) -> str:
        return f"{'ok  ' if self.passed else 'FAIL'}  {self.name}: {self.words}"


@dataclass(frozen=True)
class Report:
    """A replay. ``failure`` is the first bad place, or ``None``."""

    run: str
    steps: tuple[Step, ...]

    @property
    def failure(self) -> Step | None:
        return next((step for step in self.steps if not step.passed), None)

    @property
    def passed(self) -> bool:
        return self.failure is None

    def __str__(self) -> str:
        end = "The grade replays to the same digests." if self.passed else "THE GRADE DOES NOT REPLAY."
        return "\n".join([f"Run {self.run}", *map(str, self.steps), end])

    def check(self) -> None:
        """Raise ``IntegrityError`` where the replay failed."""
        if self.failure is not None:
            raise IntegrityError(f"run {self.run} does not replay: {self.failure.name}: {self.failure.words}")


def replay(recorded: RecordedGrade, *, store: Blobs, keyring: Keyring, grader_key: Path) -> Report:
    """Replay ``recorded``. ``grader_key`` is the grader's public key. Never raises for what is wrong with the grade."""
    replaying = _Replay(recorded, store, keyring, grader_key)
    done = []
    for name, step in replaying.steps():
        try:
            done.append(Step(name, True, step()))
        except Refused as refusal:
            codes = ", ".join(sorted({finding.code for finding in refusal.findings}))
            done.append(Step(name, False, f"refused ({codes})"))  # codes alone: words may quote an answer
            break
        except (IntegrityError, NoKey, LookupError) as error:
            done.append(Step(name, False, str(error)))
            break
    return Report(recorded.run, tuple(done))


@dataclass
class _Replay:
    """What is known so far. Each step relies on those before it."""

    recorded: RecordedGrade
    store: Blobs
    keyring: Keyring
    grader_key: Path
    _outputs: Pack = field(init=False)
    _answers: Pack = field(init=False)
    _graded: Graded = field(init=False)

    def steps(self) -> list[tuple[str, Callable[[], str]]]:
        return [
            ("grader", self.grader), ("configuration", self.configuration), ("outputs", self.outputs),
            ("answers", self.answers), ("verdicts", self.verdicts), ("stored verdicts", self.stored_verdicts),
            ("scorecard", self.scorecard), ("signature", self.signature),
        ]  # fmt: skip

    def grader(self) -> str:
        if REPLAY != "stateless":
            raise IntegrityError(f"this grader declares its replay {REPLAY}, so nothing can be said")
        running = grader_digest()
        if running != self.recorded.grader:
            raise IntegrityError(
                f"graded by {self.recorded.grader}, but the code here is {running}; replay with the code of that time"
            )
        return f"{running} is the grader that graded"

    def configuration(self) -> str:
        found = digest(self.recorded.config)
        if found != self.recorded.config_digest:
            raise IntegrityError(f"the grade cites {self.recorded.config_digest}, the configuration is {found}")
        return found

    def outputs(self) -> str:
        ref = self.recorded.outputs
        self._outputs = outputs.unseal(ref, self.store.get(ref.sealed), self.keyring)
        header = self._outputs.header
        if (header["run"], header["runspec"]) != (self.recorded.run, self.recorded.runspec):
            raise IntegrityError("the outputs pack is of another run or RunSpec")
        return f"{len(self._outputs.records)} outputs, {ref.content}"

    def answers(self) -> str:
        ref = self.recorded.answers
        self._answers = answers.unseal(ref, self.store.get(ref.sealed), self.keyring)
        if self._answers.header["release"] != self.recorded.release:
            raise IntegrityError("the answers pack is of another release")
        return f"{len(self._answers.records)} answers, {ref.content}"

    def verdicts(self) -> str:
        config = GradingConfig.from_json(self.recorded.config, "configuration")
        self._graded = grade(self._outputs, self._answers, config)
        found = self._graded.scorecard.verdicts
        if found != self.recorded.verdicts.content:
            raise IntegrityError(f"graded again they are {found}, not {self.recorded.verdicts.content}{self._first()}")
        return f"graded again, {found}"

    def stored_verdicts(self) -> str:
        ref = self.recorded.verdicts
        verdicts.unseal(ref, self.store.get(ref.sealed), self.keyring)
        return f"sealed as {ref.sealed}"

    def scorecard(self) -> str:
        made, stored = self._graded.scorecard.digest, digest(self.recorded.scorecard)
        if made != stored:
            raise IntegrityError(f"made again it is {made}, on record stands {stored}{self._first_field()}")
        if made != self.recorded.scorecard_digest:
            raise IntegrityError(f"made again it is {made}, but the grade cites {self.recorded.scorecard_digest}")
        return made

    def signature(self) -> str:
        signed = signatures.verify(self.recorded.envelope, self.grader_key)
        if signed != statement(self._graded.scorecard):
            raise IntegrityError("the envelope signs another scorecard")
        return f"valid under {self.grader_key.name}"

    def _first(self) -> str:
        """The first item whose stored verdict differs, if the stored ones can be read at all."""
        ref = self.recorded.verdicts
        try:
            stored = verdicts.unseal(ref, self.store.get(ref.sealed), self.keyring)
        except (IntegrityError, LookupError, NoKey, Refused):
            return "; the stored verdicts can't be read"
        pairs = zip(stored.records, self._graded.records, strict=False)
        different = (made["index"] for old, made in pairs if old != made)
        return next((f"; item {index} is the first that differs" for index in different), "; their headers differ")

    def _first_field(self) -> str:
        made = self._graded.scorecard.as_json()
        different = sorted(name for name in made if self.recorded.scorecard.get(name) != made[name])
        return f"; {different[0]} differs" if different else "; it has other fields"
