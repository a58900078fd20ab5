"""grader.look: take the hinted run, or the one that has waited longest, and grade it. A fresh process for every task.

Load, call one step, record. Where it goes wrong:

    Fault             ours: sealed again while attempts are left, else void and refunded
    Refused           packs that don't fit each other: ours as well, and repeating won't help: void and refunded
    IntegrityError    bytes are not what they should be: void, refunded, an incident for the operators
    Stale             another worker has it: walk away, touch nothing
    anything else     ours: recorded like a Fault, then raised for the log
"""

from __future__ import annotations

import logging
import uuid

from django.conf import settings

from evaluator import blobs
from evaluator.errors import Fault, IntegrityError, Refused, Stale
from evaluator.grader import steps
from evaluator.records.lifecycle import State
from evaluator.records.scorecard import GradingConfig
from evaluator.vault.keyring import Keyring
from evaluator.vault.sealing import PackRef
from leaderboard.celery import app
from leaderboard.doorbell import row_id, worker_name
from leaderboard.ledger import grades, runs
from leaderboard.ledger.guard import Claim
from leaderboard.ledger.heartbeat import Heartbeat
from leaderboard.ledger.patience import patiently
from leaderboard.models import Release, Run

log = logging.getLogger(__name__)


@app.task(name="grader.look")
def look(untrusted_id: str) -> None:
    hinted = row_id(untrusted_id)
    claim = grades.claim(hinted, worker_name()) if hinted else None
    if claim is None and (oldest := grades.oldest_sealed()):
        claim = grades.claim(oldest, worker_name())
    if claim is None:
        return
    try:
        work(claim)
    except Stale as error:
        log.warning("leaving run %s to another grader: %s", claim.run_id, error)


def work(claim: Claim) -> None:
    try:
        grade(claim)
    except Fault as error:
        log.warning("run %s, grading %d: %s/%s", claim.run_id, claim.attempt, error.kind, error.code)
        runs.give_back(claim, State.GRADING, f"{error.kind}/{error.code}")
    except Refused as error:
        log.error("run %s can't be graded: %s", claim.run_id, error.findings[0].code)
        runs.void(claim, State.GRADING, error.findings[0].code)
    except (IntegrityError, LookupError) as error:
        log.error("INCIDENT run %s: %s", claim.run_id, error)
        runs.void(claim, State.GRADING, "integrity", {"detail": str(error)[:2000]})
    except Exception as error:  # the one broad except of this worker: record a fault of ours, then raise it
        if not isinstance(error, Stale):
            runs.give_back(claim, State.GRADING, f"grader/{type(error).__name__}")
        raise


def grade(claim: Claim) -> None:
    """Open, grade, keep the sealed verdicts, then record everything in one transaction."""
    store = blobs.packs(settings.STORE)
    keyring = Keyring(settings.PUBLIC_KEYS, settings.SECRETS / "vault.key")
    with Heartbeat(claim, State.GRADING, seconds=settings.HEARTBEAT_SECONDS):
        packs, config = load(claim.run_id)
        result = steps.grade_run(packs, config, keyring, settings.SECRETS / "signing.key")
    card = result.scorecard
    row = {
        "grader_digest": card.grader, "config_digest": card.config, "outputs_digest": card.outputs,
        "answers_digest": card.answers, "verdicts_digest": card.verdicts,
        "verdicts_sealed": store.put(result.verdicts.data), "scorecard": card.as_json(),
        "scorecard_digest": card.digest, "envelope": result.envelope,
    }  # fmt: skip
    patiently(grades.record, claim, grades.Result(grade=row, released=steps.released(card)))


def load(run_id: uuid.UUID) -> tuple[steps.Packs, GradingConfig]:
    """The packs that the rows name, from the store, and the configuration that the preset asks for."""
    columns = ("runspec_digest", "outputs_digest", "outputs_sealed", "submission__release_id")
    row = Run.objects.values(*columns, "submission__preset__body").get(pk=run_id)
    release = Release.objects.only("answers_digest", "answers_sealed").get(pk=row["submission__release_id"])
    store = blobs.packs(settings.STORE)
    given = PackRef(row["outputs_sealed"], row["outputs_digest"])
    expected = PackRef(release.answers_sealed, release.answers_digest)
    packs = steps.Packs(
        run=str(run_id), runspec=row["runspec_digest"], release=str(release.pk),
        outputs=given, sealed_outputs=store.get(given.sealed),
        answers=expected, sealed_answers=store.get(expected.sealed),
    )  # fmt: skip
    return packs, GradingConfig(coverage_gate=row["submission__preset__body"]["coverage_gate"])
