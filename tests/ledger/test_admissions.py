"""What a team may submit today, and an upload on its way in."""

from __future__ import annotations

import datetime as dt
import threading

import pytest
from django.db import connection

from evaluator.errors import Finding, Refused, Stale
from leaderboard.ledger import admissions, quota
from leaderboard.models import Checkpoint, QuotaEntry, Submission, Upload
from tests import factories
from tests.services import as_identity

pytestmark = pytest.mark.usefixtures("database")


def an_upload() -> Upload:
    return admissions.open_upload(factories.a_team(), factories.a_user(), "model", admissions.Declaration())


def test_two_submissions_at_once_can_not_both_take_the_last_slot() -> None:
    user, team = factories.a_user(), factories.a_team()
    benchmark = factories.a_benchmark(daily_limit=1)
    release, preset = factories.a_release(benchmark), factories.a_preset(benchmark)
    checkpoint = factories.a_checkpoint(team, user)
    refused: list[Refused] = []

    def submit() -> None:
        try:
            admissions.submit(user, checkpoint, release, preset, admissions.Declaration())
        except Refused as error:
            refused.append(error)
        connection.close()

    with as_identity("web"):
        threads = [threading.Thread(target=submit) for _ in range(4)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
    assert Submission.objects.count() == 1
    assert len(refused) == 3
    assert "next slot opens at" in str(refused[0])


def test_the_allowance_resets_at_utc_midnight() -> None:
    run = factories.a_run(daily_limit=3)
    team, benchmark = run.submission.team, run.submission.release.benchmark
    now = dt.datetime.now(dt.UTC)
    assert quota.allowance(team, benchmark, now).left == 2
    tomorrow = quota.allowance(team, benchmark, now).resets_at
    assert quota.allowance(team, benchmark, tomorrow).left == 3
    assert quota.allowance(team, benchmark, tomorrow - dt.timedelta(seconds=1)).left == 2


def test_a_retired_release_takes_no_submission() -> None:
    run = factories.a_run()
    submission = run.submission
    factories.a_release(submission.release.benchmark, "2.0.0")
    submission.release.refresh_from_db()
    with pytest.raises(Refused, match="retired"):
        admissions.submit(
            submission.submitted_by, submission.checkpoint, submission.release, submission.preset,
            admissions.Declaration(),
        )  # fmt: skip
    assert QuotaEntry.objects.count() == 1


def test_bytes_are_counted_only_where_the_file_stands() -> None:
    with as_identity("web"):
        file = admissions.add_file(an_upload(), "config.json", 10)
        assert admissions.advance(file.pk, at=0, count=4) == 4
        with pytest.raises(Stale):
            admissions.advance(file.pk, at=0, count=4)


def test_an_upload_closes_only_when_every_byte_is_here() -> None:
    upload = an_upload()
    file = admissions.add_file(upload, "config.json", 10)
    with as_identity("web"):
        with pytest.raises(Refused, match=r"config.json: 0 of 10 bytes"):
            admissions.close_upload(upload)
        admissions.advance(file.pk, at=0, count=10)
        admissions.close_upload(upload)
    assert Upload.objects.get().state == "checking"


def test_a_check_is_given_to_one_worker_and_ends_once() -> None:
    upload = an_upload()
    Upload.objects.update(state="checking")
    with as_identity("web"):
        mine = admissions.claim_check(upload.pk)
        assert mine is not None
        assert admissions.claim_check(upload.pk) is None
        admissions.refuse(mine, [Finding("pickle", "model.bin", "is a pickle.", "Convert it.")])
        with pytest.raises(Stale):
            admissions.refuse(mine, [Finding("pickle", "model.bin", "is a pickle.", "Convert it.")])


def test_the_same_bytes_twice_are_one_checkpoint() -> None:
    manifest = {"format": "heldout.checkpoint/1", "files": [{"name": "a", "size": 1, "sha256": "0" * 64}]}
    team, user = factories.a_team(), factories.a_user()
    found = set()
    for _ in range(2):
        upload = admissions.open_upload(team, user, "model", admissions.Declaration())
        Upload.objects.filter(pk=upload.pk).update(state="checking")
        with as_identity("web"):
            found.add(admissions.admit(admissions.claim_check(upload.pk), manifest, factories.a_digest("m"), {}).pk)
    assert len(found) == 1
    assert Checkpoint.objects.count() == 1
