"""A replay tells, by name, the first thing that is not as it was when the grade was made."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import evaluator
from evaluator.auditor.steps import RecordedGrade, Report, replay
from evaluator.errors import IntegrityError
from evaluator.records.canonical import digest
from evaluator.vault import outputs, sealing, signatures, verdicts
from evaluator.vault.sealing import PackRef, Sealed
from tests import runs
from tests.runs import Stage
from tests.vault.records import output_record

STEPS = ["grader", "configuration", "outputs", "answers", "verdicts", "stored verdicts", "scorecard", "signature"]
OTHER = "sha256:" + "0" * 64


@pytest.fixture
def grade(run: Stage) -> RecordedGrade:
    return run.record(run.grade())


def replayed(run: Stage, grade: RecordedGrade, identity: str = "auditor") -> Report:
    return replay(grade, store=run.store, keyring=run.keys.ring(identity), grader_key=run.keys.verifying("grader"))


def first_bad(run: Stage, grade: RecordedGrade) -> str:
    report = replayed(run, grade)
    assert report.failure is not None
    assert report.failure.name == STEPS[len(report.steps) - 1]
    with pytest.raises(IntegrityError, match=report.failure.name):
        report.check()
    return report.failure.name


def flip(run: Stage, ref: PackRef, place: int = -20) -> None:
    """Change one byte of a file in the store, as somebody with the disk in hands would."""
    path = run.store.path(ref.sealed)
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.chmod(0o600)
    path.write_bytes(bytes(data))


def put(run: Stage, sealed: Sealed) -> PackRef:
    run.store.put(sealed.data)
    return sealed.ref


def test_a_grade_replays_step_by_step(run: Stage, grade: RecordedGrade) -> None:
    report = replayed(run, grade)
    assert report.passed
    assert [step.name for step in report.steps] == STEPS
    assert str(report).endswith("The grade replays to the same digests.")
    report.check()


@pytest.mark.parametrize("pack", ["outputs", "answers"])
@pytest.mark.parametrize("place", [0, 100, -1])
def test_one_flipped_byte_of_a_stored_pack_is_named(run: Stage, grade: RecordedGrade, pack: str, place: int) -> None:
    flip(run, getattr(grade, pack), place)
    assert first_bad(run, grade) == pack


def test_one_flipped_byte_of_the_stored_verdicts_is_named(run: Stage, grade: RecordedGrade) -> None:
    flip(run, grade.verdicts)
    assert first_bad(run, grade) == "stored verdicts"


@pytest.mark.parametrize("pack", ["outputs", "answers"])
def test_a_missing_pack_is_named(run: Stage, grade: RecordedGrade, pack: str) -> None:
    run.store.path(getattr(grade, pack).sealed).unlink()
    assert first_bad(run, grade) == pack


def test_another_grader_is_named(run: Stage, grade: RecordedGrade) -> None:
    assert first_bad(run, replace(grade, grader=OTHER)) == "grader"


def test_another_configuration_is_named(run: Stage, grade: RecordedGrade) -> None:
    changed = {**grade.config, "coverage_gate": "0.5"}
    assert first_bad(run, replace(grade, config=changed)) == "configuration"
    consistent = replace(grade, config=changed, config_digest=digest(changed))
    assert first_bad(run, consistent) == "scorecard"


def test_outputs_changed_and_sealed_anew_are_named(run: Stage, grade: RecordedGrade) -> None:
    better = [*runs.OUTPUTS[:1], output_record(1, "5"), *runs.OUTPUTS[2:]]
    forged = put(run, outputs.seal(runs.RUN, runs.RUNSPEC, better, run.keys.ring("runner")))
    assert first_bad(run, replace(grade, outputs=forged)) == "verdicts"
    assert first_bad(run, replace(grade, outputs=PackRef(forged.sealed, grade.outputs.content))) == "outputs"


def test_outputs_of_another_run_are_named(run: Stage, grade: RecordedGrade) -> None:
    assert first_bad(run, replace(grade, run=runs.RELEASE)) == "outputs"
    assert first_bad(run, replace(grade, runspec=OTHER)) == "outputs"
    assert first_bad(run, replace(grade, release=runs.RUN)) == "answers"


def test_verdicts_changed_and_sealed_anew_are_named_with_their_item(run: Stage, grade: RecordedGrade) -> None:
    ring = run.keys.ring("auditor")
    pack = verdicts.unseal(grade.verdicts, run.store.get(grade.verdicts.sealed), ring)
    records = [dict(record) for record in pack.records]
    records[1].update(score="1", reason="equal")
    header = {name: pack.header[name] for name in ("run", "runspec", "outputs", "answers", "grader")}
    forged = replace(grade, verdicts=put(run, verdicts.seal(header, records, ring)))
    report = replayed(run, forged)
    assert report.failure is not None
    assert report.failure.name == "verdicts"
    assert "item 1 is the first that differs" in report.failure.words


def test_a_changed_scorecard_is_named_with_its_field(run: Stage, grade: RecordedGrade) -> None:
    lie: dict[str, Any] = {**grade.scorecard, "ranked": True}
    report = replayed(run, replace(grade, scorecard=lie, scorecard_digest=digest(lie)))
    assert report.failure is not None
    assert report.failure.name == "scorecard"
    assert "ranked differs" in report.failure.words
    assert first_bad(run, replace(grade, scorecard_digest=OTHER)) == "scorecard"


def test_a_changed_envelope_is_named(run: Stage, grade: RecordedGrade) -> None:
    envelope = json.loads(json.dumps(grade.envelope))
    payload = base64.b64decode(envelope["payload"]).replace(b'"ranked":false', b'"ranked":true ')
    envelope["payload"] = base64.b64encode(payload).decode()
    assert first_bad(run, replace(grade, envelope=envelope)) == "signature"


def test_a_true_signature_under_another_statement_or_key_is_named(run: Stage, grade: RecordedGrade) -> None:
    body = signatures.verify(grade.envelope, run.keys.verifying("grader"))
    other = signatures.sign({**body, "predicateType": "https://example.org/x"}, run.keys.signing("grader"))
    assert first_bad(run, replace(grade, envelope=other)) == "signature"
    curator = signatures.sign(body, run.keys.signing("curator"))
    assert first_bad(run, replace(grade, envelope=curator)) == "signature"


def test_who_may_not_read_outputs_can_t_replay(run: Stage, grade: RecordedGrade) -> None:
    report = replayed(run, grade, identity="curator")
    assert report.failure is not None
    assert report.failure.name == "outputs"


def test_no_report_quotes_outputs_or_answers(run: Stage, grade: RecordedGrade) -> None:
    bad = sealing.seal(b'{"format":"Paris"}\n', outputs.READERS, run.keys.ring("runner"))
    for report in (replayed(run, grade), replayed(run, replace(grade, outputs=put(run, bad)))):
        assert "Paris" not in str(report)


COPY = """
import json, sys
from evaluator.checkers.grading import grade
from evaluator.records.packs import read_answers, read_outputs
from evaluator.records.scorecard import GradingConfig
outputs, answers = (open(name, "rb").read() for name in sys.argv[1:])
print(grade(read_outputs(outputs), read_answers(answers), GradingConfig()).scorecard.digest)
"""


def graded_in(folder: Path, run: Stage) -> str:
    """The scorecard's digest made by a copy of the code in ``folder``, by a Python that knows no other."""
    ring = run.keys.ring("auditor")
    for name, ref in (("outputs", run.outputs), ("answers", run.answers)):
        (folder / name).write_bytes(sealing.unseal(ref, run.store.get(ref.sealed), ring))
    command = [sys.executable, "-c", COPY, str(folder / "outputs"), str(folder / "answers")]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    source = Path(evaluator.__file__).parent
    shutil.copytree(source, tmp_path / "elsewhere" / "evaluator", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "elsewhere"


def test_another_folder_gives_the_same_digest(run: Stage, grade: RecordedGrade, copy: Path) -> None:
    assert graded_in(copy, run) == grade.scorecard_digest


def test_one_changed_byte_of_the_grader_gives_another_digest(run: Stage, grade: RecordedGrade, copy: Path) -> None:
    changed = copy / "evaluator" / "checkers" / "exact.py"
    changed.write_text(changed.read_text() + "#")
    assert graded_in(copy, run) != grade.scorecard_digest
