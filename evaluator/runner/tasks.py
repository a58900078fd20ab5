"""runner.look: take the hinted run, or the one that has waited longest; evaluate it; look again until none waits.

Load, call one step, record. What went wrong decides where the run goes, and this table is all of it:

    Refused           the submission's doing: failed, costs quota
    Fault, retry      ours: queued again while attempts are left, else void and refunded
    Fault, no retry   ours and not worth repeating: void and refunded
    IntegrityError    bytes are not what they should be: void, refunded, an incident for the operators
    Stale             another worker has it: walk away, touch nothing
    anything else     ours: recorded like a Fault, then raised for the log
"""

from __future__ import annotations

import logging
import uuid

from evaluator.errors import Fault, IntegrityError, Refused, Stale
from evaluator.records.lifecycle import State
from evaluator.runner import steps
from leaderboard.celery import app
from leaderboard.doorbell import row_id, worker_name
from leaderboard.ledger import runs
from leaderboard.ledger.guard import Claim

log = logging.getLogger(__name__)


@app.task(name="runner.look")
def look(untrusted_id: str) -> None:
    hinted = row_id(untrusted_id)
    claim = runs.claim(hinted, worker_name()) if hinted else None
    while claim := claim or _claim_oldest():
        work(claim)
        claim = None


def _claim_oldest() -> Claim | None:
    oldest: uuid.UUID | None = runs.oldest_queued()
    return runs.claim(oldest, worker_name()) if oldest else None


def work(claim: Claim) -> None:
    try:
        _evaluate(claim)
    except Stale as error:
        log.warning("leaving run %s to another worker: %s", claim.run_id, error)


def _evaluate(claim: Claim) -> None:
    try:
        steps.evaluate(claim)
    except steps.Cancelled:
        runs.cancelled(claim)
    except Refused as error:
        runs.reject(claim, error.findings[0].code, {"findings": [finding.as_json() for finding in error.findings]})
    except Fault as error:
        log.warning("run %s, attempt %d: %s", claim.run_id, claim.attempt, error)
        end = runs.give_back if error.retry else runs.void
        end(claim, State.RUNNING, f"{error.kind}/{error.code}", {"detail": error.detail[:2000]})
    except IntegrityError as error:
        log.error("INCIDENT run %s: %s", claim.run_id, error)
        runs.void(claim, State.RUNNING, "integrity", {"detail": str(error)[:2000]})
    except Exception as error:  # the one broad except of this worker: record a fault of ours, then raise it
        if not isinstance(error, Stale):
            runs.give_back(claim, State.RUNNING, f"node/{type(error).__name__}")
        raise
