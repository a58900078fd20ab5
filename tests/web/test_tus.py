"""Resumable uploads, as tus 1.0 says and a hostile client would."""

from __future__ import annotations

import base64
import tracemalloc
import uuid
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.http import HttpResponse
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from leaderboard.ledger import admissions
from leaderboard.models import Upload, UploadedFile
from leaderboard.web import quarantine as quarantine_module
from tests.cast import Cast
from tests.web.conftest import Visitor

PART = "application/offset+octet-stream"


@pytest.fixture(autouse=True)
def quarantine(tmp_path: Path, settings: Any) -> Path:
    settings.INTAKE = tmp_path / "intake"
    return tmp_path / "intake"


class Sender:
    """A client with one upload of team Aurora."""

    def __init__(self, cast: Cast) -> None:
        self.visitor = Visitor(cast.competitor)
        self.upload = admissions.open_upload(cast.aurora, cast.competitor, "model", admissions.Declaration())

    def create(self, name: str, size: object, **headers: str) -> HttpResponse:
        metadata = f"filename {base64.b64encode(name.encode()).decode()}"
        given = {"HTTP_TUS_RESUMABLE": "1.0.0", "HTTP_UPLOAD_LENGTH": str(size), "HTTP_UPLOAD_METADATA": metadata}
        return self.visitor.ask("POST", f"/uploads/{self.upload.pk}/files", **given | headers)

    def patch(self, location: str, at: object, data: bytes, **headers: Any) -> HttpResponse:
        given = {"content_type": PART, "HTTP_TUS_RESUMABLE": "1.0.0", "HTTP_UPLOAD_OFFSET": str(at)}
        return self.visitor.ask("PATCH", location, data=data, **given | headers)

    def head(self, location: str) -> HttpResponse:
        return self.visitor.ask("HEAD", location, HTTP_TUS_RESUMABLE="1.0.0")

    def bytes_of(self, location: str) -> bytes:
        return (Path(settings.INTAKE) / str(self.upload.pk) / location.rsplit("/", 1)[1]).read_bytes()


@pytest.fixture
def sender(cast: Cast) -> Sender:
    return Sender(cast)


def test_a_file_arrives_in_parts(sender: Sender) -> None:
    location = sender.create("config.json", 10)["Location"]
    assert sender.head(location)["Upload-Offset"] == "0"
    assert sender.patch(location, 0, b"01234")["Upload-Offset"] == "5"
    assert sender.head(location)["Upload-Offset"] == "5"
    assert sender.patch(location, 5, b"56789").status_code == 204
    assert sender.bytes_of(location) == b"0123456789"


def test_a_part_at_the_wrong_place_is_told_the_right_one(sender: Sender) -> None:
    location = sender.create("config.json", 10)["Location"]
    sender.patch(location, 0, b"01234")
    for at in (0, 4, 6):
        answer = sender.patch(location, at, b"xxxx")
        assert (answer.status_code, answer["Upload-Offset"]) == (409, "5")
    assert sender.bytes_of(location) == b"01234"


def test_another_process_goes_on_from_the_row(sender: Sender, cast: Cast) -> None:
    location = sender.create("config.json", 20)["Location"]
    for at in range(20):
        sender.visitor = Visitor(cast.captain)  # nothing is kept in a process: each request is a new client's
        assert sender.patch(location, at, bytes([65 + at])).status_code == 204
    assert sender.bytes_of(location) == b"ABCDEFGHIJKLMNOPQRST"


def test_bytes_that_the_row_does_not_know_are_cut_off(sender: Sender) -> None:
    location = sender.create("config.json", 6)["Location"]
    sender.patch(location, 0, b"abc")
    path = Path(settings.INTAKE) / str(sender.upload.pk) / location.rsplit("/", 1)[1]
    path.write_bytes(b"abcGARBAGE")  # a process that died between the disk and the row
    sender.patch(location, 3, b"d")
    assert sender.bytes_of(location) == b"abcd"


def test_more_than_was_announced_is_refused_and_not_kept(sender: Sender) -> None:
    location = sender.create("config.json", 10)["Location"]
    answer = sender.patch(location, 0, b"x" * 100)
    assert answer.status_code == 413
    assert sender.head(location)["Upload-Offset"] == "0"
    assert sender.bytes_of(location) == b""


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("../../x", "file-path"), ("a/b", "file-path"), ("..\\x", "file-path"), ("/etc/passwd", "file-path"),
        ("..", "file-name"), (".", "file-name"), ("a\x00b", "file-name"), ("a\nb", "file-name"), ("", "file-name"),
        ("x" * 201, "file-name"), ("ＭＯＤＥＬ", "file-name"), ("a b", "file-name"), ("\u202egnp", "file-name"),
    ],
)  # fmt: skip
def test_a_name_that_is_no_plain_name_is_refused(sender: Sender, name: str, code: str) -> None:
    answer = sender.create(name, 10)
    assert (answer.status_code, answer.json()["error"]) == (422, code)
    assert UploadedFile.objects.count() == 0
    assert answer.json()["findings"][0]["remedy"]


def test_the_path_on_disk_never_holds_the_client_s_name(sender: Sender, quarantine: Path) -> None:
    location = sender.create("chosen-by-client.json", 3)["Location"]
    sender.patch(location, 0, b"abc")
    assert not [path for path in quarantine.rglob("*") if "chosen-by-client" in path.name]


@pytest.mark.parametrize("length", ["", "-1", "1e9", "ten", "٣", "9" * 30])
def test_a_size_that_is_no_number_is_refused(sender: Sender, length: str) -> None:
    assert sender.create("config.json", length).status_code == 400


def test_a_size_over_the_limit_is_refused_before_any_byte(sender: Sender, settings: Any) -> None:
    settings.UPLOAD_LIMIT = 1000
    assert sender.create("a.json", 1001).status_code == 413
    assert sender.create("a.json", 600).status_code == 201
    assert sender.create("b.json", 600).status_code == 413  # together


@pytest.mark.parametrize(
    "metadata", ["", "filename", "filename ???", "name YQ==", "filename /w==", "filename " + "A" * 9]
)
def test_unreadable_metadata_is_refused(sender: Sender, metadata: str) -> None:
    assert sender.create("config.json", 1, HTTP_UPLOAD_METADATA=metadata).status_code == 422


def test_a_second_file_of_one_name_is_refused(sender: Sender) -> None:
    assert sender.create("config.json", 1).status_code == 201
    assert sender.create("config.json", 1).status_code == 409


def test_another_version_of_the_protocol_is_refused(sender: Sender) -> None:
    answer = sender.create("config.json", 1, HTTP_TUS_RESUMABLE="0.2.2")
    assert (answer.status_code, answer["Tus-Version"]) == (412, "1.0.0")


def test_the_protocol_says_what_it_can(sender: Sender) -> None:
    answer = sender.visitor.ask("OPTIONS", f"/uploads/{sender.upload.pk}/files")
    assert answer["Tus-Extension"] == "creation"
    assert int(answer["Tus-Max-Size"]) == settings.UPLOAD_LIMIT


def test_a_part_of_another_type_is_refused(sender: Sender) -> None:
    location = sender.create("config.json", 3)["Location"]
    assert sender.patch(location, 0, b"abc", content_type="text/plain").status_code == 415
    assert sender.patch(location, "x", b"abc").status_code == 400


def test_a_closed_upload_takes_nothing_more(sender: Sender) -> None:
    location = sender.create("config.json", 3)["Location"]
    sender.patch(location, 0, b"abc")
    Upload.objects.filter(pk=sender.upload.pk).update(state="checking")
    assert sender.create("other.json", 3).status_code == 409
    assert sender.patch(location, 3, b"x").status_code in {409, 413}
    assert sender.bytes_of(location) == b"abc"


def test_a_file_of_another_upload_is_nothing(sender: Sender) -> None:
    assert sender.head(f"/uploads/{sender.upload.pk}/files/{uuid.uuid4()}").status_code == 404


def test_an_upload_has_a_bounded_number_of_files(sender: Sender) -> None:
    UploadedFile.objects.bulk_create(
        [UploadedFile(upload=sender.upload, name=f"f{number}", size=0) for number in range(500)]
    )
    assert sender.create("one-more", 0).json()["error"] == "too-many-files"


def test_memory_stays_flat(quarantine: Path) -> None:
    size, upload, file = 128 * 1024 * 1024, uuid.uuid4(), uuid.uuid4()
    tracemalloc.start()
    count = quarantine_module.write(upload, file, 0, (bytes(1024 * 1024) for _ in range(128)), size)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == size
    assert peak < 4 * 1024 * 1024


@given(cuts=st.lists(st.tuples(st.integers(0, 40), st.binary(min_size=1, max_size=9)), max_size=12))
@hypothesis_settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_comes_the_bytes_are_those_that_were_acknowledged(
    sender: Sender, cuts: list[tuple[int, bytes]]
) -> None:
    location, model = sender.create(f"{uuid.uuid4()}.json", 32)["Location"], b""
    for at, data in cuts:
        answer = sender.patch(location, at, data)
        fits = at == len(model) and len(model) + len(data) <= 32
        assert (answer.status_code == 204) == fits
        model += data if fits else b""
    assert sender.head(location)["Upload-Offset"] == str(len(model))
    if model:
        assert sender.bytes_of(location) == model


def test_an_upload_that_is_given_up_frees_its_bytes_and_takes_no_more(sender: Sender, quarantine: Path) -> None:
    location = sender.create("config.json", 6)["Location"]
    sender.patch(location, 0, b"abc")
    assert sender.visitor.post(f"/uploads/{sender.upload.pk}/discard").status_code == 302
    assert sender.patch(location, 3, b"def").status_code == 409
    assert list(quarantine.iterdir()) == []
    assert Upload.objects.get().state == "refused"


def test_a_complete_upload_can_not_be_given_up(sender: Sender, quarantine: Path) -> None:
    sender.patch(sender.create("config.json", 3)["Location"], 0, b"abc")
    Upload.objects.update(state="checking")
    sender.visitor.post(f"/uploads/{sender.upload.pk}/discard")
    assert Upload.objects.get().state == "checking"
    assert (quarantine / str(sender.upload.pk)).exists()


def test_a_team_has_a_bounded_number_of_open_uploads(sender: Sender) -> None:
    answers = [sender.visitor.send("/api/uploads", {"team": "aurora", "name": f"m{n}"}).status_code for n in range(11)]
    assert answers.count(201) == 9  # one was open
    assert answers[-1] == 422
