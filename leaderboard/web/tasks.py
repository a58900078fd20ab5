"""web.look: check one upload. Load under a lease, call the check in its child, record.

1. Claim the upload; another worker's claim or a finished upload ends it here.
2. Give the quarantined files their real names.
3. Check the folder (``evaluator.intake``: everything is parsed in a limited child, whose death is a refusal).
4. Store the files under the manifest's digest, then admit; or refuse with the findings.
5. Drop the quarantine.

A worker that dies in between leaves a lease that runs out, and the clock hints again; each step may be repeated.
"""

from __future__ import annotations

import logging
import uuid

from django.conf import settings

from evaluator import intake
from evaluator.errors import Refused, Stale
from leaderboard.celery import app
from leaderboard.doorbell import row_id
from leaderboard.ledger import admissions
from leaderboard.models import Upload
from leaderboard.web import quarantine

log = logging.getLogger(__name__)


@app.task(name="web.look")
def look(untrusted_id: str) -> None:
    upload_id = row_id(untrusted_id)
    if upload_id is not None:
        check(upload_id)


def check(upload_id: uuid.UUID) -> None:
    upload = admissions.claim_check(upload_id)
    if upload is None:
        return
    try:
        _admit(upload)
    except Refused as refusal:
        log.info("upload %s refused: %d findings", upload.pk, len(refusal.findings))
        _record_refusal(upload, refusal)
    except Stale:
        log.warning("upload %s was taken over by another worker", upload.pk)
        return
    quarantine.drop(upload.pk)


def _admit(upload: Upload) -> None:
    named = quarantine.assemble(upload.pk, upload.files.values_list("pk", "name"))
    admission = intake.admit(named)
    intake.store(named, admission, settings.STORE / "checkpoints")
    facts = {**admission.facts, **({"notes": list(admission.notes)} if admission.notes else {})}
    checkpoint = admissions.admit(upload, admission.manifest, admission.digest, facts)
    log.info("upload %s admitted as checkpoint %s", upload.pk, checkpoint.pk)


def _record_refusal(upload: Upload, refusal: Refused) -> None:
    try:
        admissions.refuse(upload, refusal.findings)
    except Stale:
        log.warning("upload %s was taken over by another worker", upload.pk)
