"""A checkpoint on its way in, and the submission that asks for its evaluation."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Now

from evaluator.errors import Finding, Refused, Stale
from leaderboard import hints
from leaderboard.ledger import entries, quota
from leaderboard.models import Checkpoint, Preset, Release, Run, Submission, Team, Upload, UploadedFile, User

CHECK_SECONDS = 600


@dataclass(frozen=True)
class Declaration:
    """What a submitter says about a checkpoint; shown beside it, never taken for a fact."""

    base_model: str = ""
    training_data: str = ""
    notes: str = ""

    def as_json(self) -> dict[str, str]:
        return {"base_model": self.base_model, "training_data": self.training_data, "notes": self.notes}


def open_upload(team: Team, user: User, name: str, declaration: Declaration) -> Upload:
    with transaction.atomic():
        upload = Upload.objects.create(team=team, created_by=user, name=name, **declaration.as_json())
        entries.record("upload.open", upload.pk, team=team.pk, user=user.pk)
    return upload


def add_file(upload: Upload, name: str, size: int) -> UploadedFile:
    """Announce one file. Raises ``Refused`` for a second file of the name, a closed upload or too many bytes."""
    with transaction.atomic():
        locked = Upload.objects.select_for_update(of=("self",)).get(pk=upload.pk)
        if locked.state != Upload.State.RECEIVING:
            raise Refused.one("upload-closed", name, "This upload is closed.", "Start a new upload.")
        files = {file.name: file.size for file in locked.files.all()}
        if name in files:
            raise Refused.one("file-twice", name, "A file of this name is in the upload.", "Send each file once.")
        if sum(files.values()) + size > settings.UPLOAD_LIMIT:
            limit = settings.UPLOAD_LIMIT // 1024**3
            raise Refused.one("upload-too-large", name, f"The upload exceeds {limit} GiB.", "Ask an operator.")
        return UploadedFile.objects.create(upload=locked, name=name, size=size)


def advance(file_id: uuid.UUID, *, at: int, count: int) -> int:
    """``count`` bytes were written at offset ``at``. Returns the new offset; ``Stale`` when it stood elsewhere."""
    rows = UploadedFile.objects.filter(pk=file_id, offset=at, upload__state=Upload.State.RECEIVING)
    if rows.update(offset=F("offset") + count) != 1:
        raise Stale(f"file {file_id} does not stand at byte {at}")
    return at + count


def close_upload(upload: Upload) -> None:
    """All bytes are here: no more are taken, and the check begins."""
    with transaction.atomic():
        missing = upload.files.exclude(offset=F("size")).values_list("name", "offset", "size")
        if missing:
            raise Refused(
                [Finding("file-incomplete", name, f"{offset} of {size} bytes arrived.", "Send the rest, then close.")
                 for name, offset, size in missing]
            )  # fmt: skip
        if not upload.files.exists():
            raise Refused.one("upload-empty", upload.name, "The upload has no files.", "Add the checkpoint's files.")
        rows = Upload.objects.filter(pk=upload.pk, state=Upload.State.RECEIVING)
        if rows.update(state=Upload.State.CHECKING, closed_at=Now()) != 1:
            raise Stale(f"upload {upload.pk} is closed")
        entries.record("upload.close", upload.pk)
        hints.send_on_commit("web", upload.pk)


def discard(upload: Upload, user: User) -> None:
    """Give up an upload whose bytes never all came. A part that is being written ends first: its row is locked."""
    with transaction.atomic():
        list(upload.files.select_for_update(of=("self",)).order_by("pk").values_list("pk"))
        finding = Finding("discarded", upload.name, "The upload was given up.", "Start a new one.")
        rows = Upload.objects.filter(pk=upload.pk, state=Upload.State.RECEIVING)
        if rows.update(state=Upload.State.REFUSED, closed_at=Now(), findings=[finding.as_json()]) != 1:
            raise Stale(f"upload {upload.pk} takes no more bytes already")
        entries.record("upload.discard", upload.pk, user=user.pk)


def claim_check(upload_id: uuid.UUID) -> Upload | None:
    """Take an upload for checking, for ``CHECK_SECONDS``. ``None`` where another has it or it is done."""
    free = Q(checking_until=None) | Q(checking_until__lt=Now())
    rows = Upload.objects.filter(free, pk=upload_id, state=Upload.State.CHECKING)
    if rows.update(checking_until=Now() + dt.timedelta(seconds=CHECK_SECONDS)) != 1:
        return None
    return Upload.objects.get(pk=upload_id)


def admit(upload: Upload, manifest: Mapping[str, object], digest: str, facts: Mapping[str, object]) -> Checkpoint:
    """The check passed and the files are in the store. The same bytes again give the checkpoint that exists."""
    files = manifest["files"]
    assert isinstance(files, list)
    with transaction.atomic():
        checkpoint = Checkpoint.objects.filter(team=upload.team_id, manifest_digest=digest).first()
        if checkpoint is None:
            declaration = Declaration(upload.base_model, upload.training_data, upload.notes)
            checkpoint = Checkpoint.objects.create(
                team_id=upload.team_id, created_by_id=upload.created_by_id, name=upload.name,
                manifest=dict(manifest), manifest_digest=digest, facts=dict(facts),
                declaration=declaration.as_json(), size=sum(file["size"] for file in files),
            )  # fmt: skip
        _finish_check(upload, state=Upload.State.ADMITTED, checkpoint=checkpoint)
        entries.record("checkpoint.admit", checkpoint.pk, manifest=digest, upload=upload.pk)
    return checkpoint


def refuse(upload: Upload, findings: Sequence[Finding]) -> None:
    with transaction.atomic():
        _finish_check(upload, state=Upload.State.REFUSED, findings=[finding.as_json() for finding in findings])
        entries.record("upload.refuse", upload.pk, codes=sorted({finding.code for finding in findings}))


def _finish_check(upload: Upload, **changes: object) -> None:
    rows = Upload.objects.filter(pk=upload.pk, state=Upload.State.CHECKING, checking_until=upload.checking_until)
    if rows.update(checking_until=None, **changes) != 1:
        raise Stale(f"upload {upload.pk} was checked by another worker")


def submit(
    user: User, checkpoint: Checkpoint, release: Release, preset: Preset, declaration: Declaration
) -> Submission:
    """Log the submission, charge it and queue its run. Raises ``Refused`` when today's allowance is used up.

    The team's row is locked, so that two submissions at once can't both take the last slot.
    """
    with transaction.atomic():
        team = Team.objects.select_for_update(of=("self",)).get(pk=checkpoint.team_id)
        _check_offer(release, preset)
        left = quota.allowance(team, release.benchmark)
        if left.left == 0:
            raise Refused.one(
                "quota", "submission", f"All {left.limit} submissions of today are used.",
                f"The next slot opens at {left.resets_at:%Y-%m-%d %H:%M} UTC.",
            )  # fmt: skip
        submission = Submission.objects.create(
            team=team, submitted_by=user, checkpoint=checkpoint, release=release, preset=preset,
            declaration=declaration.as_json(),
        )  # fmt: skip
        quota.charge(submission, release.benchmark)
        run = Run.objects.create(submission=submission)
        entries.record(
            "submission.admit", submission.pk, team=team.pk, user=user.pk, run=run.pk,
            checkpoint=checkpoint.manifest_digest, prompts=release.prompts_digest, preset=preset.digest,
        )  # fmt: skip
        hints.send_on_commit("runner", run.pk)
    return submission


def _check_offer(release: Release, preset: Preset) -> None:
    if release.state != Release.State.ACTIVE:
        raise Refused.one("release-closed", str(release), f"The release is {release.state}.", "Take the active one.")
    if preset.benchmark_id != release.benchmark_id:
        raise Refused.one("preset", str(preset), "The preset belongs to another benchmark.", "Choose one of its own.")
