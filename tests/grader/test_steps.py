"""One grade: sealed packs in, sealed verdicts and a signed scorecard out."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluator.errors import IntegrityError, Refused
from evaluator.grader import steps
from evaluator.records.canonical import digest_of_bytes
from evaluator.records.scorecard import GradingConfig, statement
from evaluator.vault import answers, outputs, signatures, verdicts
from evaluator.vault.keyring import NoKey
from tests import runs
from tests.keyrings import Keys
from tests.runs import Stage


def test_it_grades_what_was_sealed(run: Stage) -> None:
    hidden, practice = run.grade().scorecard.hidden, run.grade().scorecard.practice
    assert hidden is not None
    assert practice is not None
    assert (hidden.items, hidden.valid, hidden.score, hidden.coverage) == (4, 3, "0.666667", "0.750000")
    assert (hidden.worst, hidden.faults) == ("0.500000", {"engine": 1})
    assert practice.score == "1.000000"


def test_verdicts_are_for_grader_and_auditor(run: Stage) -> None:
    sealed = run.grade().verdicts
    for reader in ("grader", "auditor"):
        records = verdicts.unseal(sealed.ref, sealed.data, run.keys.ring(reader)).records
        assert [record["score"] for record in records] == ["1", "0", "1", "1", None]
    with pytest.raises(NoKey):
        verdicts.unseal(sealed.ref, sealed.data, run.keys.ring("runner"))


def test_the_scorecard_is_signed_with_the_grader_s_key(run: Stage) -> None:
    result = run.grade()
    assert signatures.verify(result.envelope, run.keys.verifying("grader")) == statement(result.scorecard)
    with pytest.raises(IntegrityError):
        signatures.verify(result.envelope, run.keys.verifying("runner"))


def test_grading_again_gives_the_same_digests_and_signature(run: Stage) -> None:
    one, two = run.grade(), run.grade()
    assert one.scorecard == two.scorecard
    assert one.envelope == two.envelope
    assert one.verdicts.ref.content == two.verdicts.ref.content
    assert one.verdicts.ref.sealed != two.verdicts.ref.sealed


def test_the_order_in_which_outputs_came_does_not_matter(run: Stage, keys: Keys, tmp_path: Path) -> None:
    shuffled = runs.stage(tmp_path / "shuffled", keys, said=runs.OUTPUTS[::-1])
    assert shuffled.grade().scorecard.digest == run.grade().scorecard.digest


def test_another_configuration_makes_another_grade(run: Stage) -> None:
    assert run.grade().scorecard.ranked is False
    generous = run.grade(GradingConfig(coverage_gate="0.5")).scorecard
    assert generous.ranked is True
    assert generous.digest != run.grade().scorecard.digest


def test_only_the_grader_and_the_auditor_can_grade(run: Stage) -> None:
    for stranger in ("runner", "curator", "web"):
        with pytest.raises(NoKey):
            steps.open_and_grade(run.packs(), runs.CONFIG, run.keys.ring(stranger))


@pytest.mark.parametrize("pack", ["sealed_outputs", "sealed_answers"])
def test_one_flipped_byte_is_refused(run: Stage, pack: str) -> None:
    data = bytearray(getattr(run.packs(), pack))
    data[-1] ^= 1
    with pytest.raises(IntegrityError, match="the sealed pack is not"):
        run.grade(**{pack: bytes(data)})


@pytest.mark.parametrize("field", ["run", "runspec", "release"])
def test_a_true_pack_in_another_run_s_place_is_refused(run: Stage, field: str) -> None:
    with pytest.raises(IntegrityError, match="is of another r"):
        run.grade(**{field: "another"})


def test_outputs_of_other_items_are_refused(run: Stage, keys: Keys, tmp_path: Path) -> None:
    fewer = runs.stage(tmp_path / "fewer", keys, said=runs.OUTPUTS[:-1])
    with pytest.raises(Refused, match="1 items have no output"):
        fewer.grade()


def test_answers_sealed_as_outputs_are_refused(run: Stage) -> None:
    ring = run.keys.ring("curator")
    forged = outputs.sealing.seal(answers_plaintext(run), outputs.READERS, ring)
    with pytest.raises(Refused, match=r"heldout\.outputs/1"):
        run.grade(outputs=forged.ref, sealed_outputs=forged.data)


def answers_plaintext(run: Stage) -> bytes:
    data = answers.sealing.unseal(run.answers, run.store.get(run.answers.sealed), run.keys.ring("auditor"))
    assert digest_of_bytes(data) == run.answers.content
    return data


def test_released_numbers_stand_in_for_nothing_below_the_gate(run: Stage) -> None:
    shown = steps.released(run.grade().scorecard)
    assert (shown["ranked"], shown["score"], shown["coverage"]) == (False, None, "0.750000")
    ranked = steps.released(run.grade(GradingConfig(coverage_gate="0.5")).scorecard)
    assert (ranked["score"], ranked["practice_score"]) == ("0.666667", "1.000000")
