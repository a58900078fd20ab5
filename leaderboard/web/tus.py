"""Resumable uploads: the core and creation parts of tus 1.0, one resource per file.

    POST   /uploads/<upload>/files          Upload-Length, Upload-Metadata: filename <base64>   201, Location
    HEAD   /uploads/<upload>/files/<file>                                                       Upload-Offset
    PATCH  /uploads/<upload>/files/<file>   Upload-Offset, a part of at most 16 MiB             204, Upload-Offset

A part that starts elsewhere gets 409 and the true offset. How far a file is stands in the database, so that any
process continues where another stopped; bytes that arrived without the row knowing are cut off by the next part.
"""

from __future__ import annotations

import base64
import binascii
import uuid
from collections.abc import Iterator

from django.conf import settings
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse

from evaluator.errors import Refused, Stale
from leaderboard.ledger import admissions
from leaderboard.models import Upload, UploadedFile
from leaderboard.web import access, quarantine
from leaderboard.web.access import Request
from leaderboard.web.problems import problem, refused

VERSION = "1.0.0"
PART = "application/offset+octet-stream"
MAX_FILES = 500


def files(request: Request, upload_id: uuid.UUID) -> HttpResponseBase:
    upload = _own(request, upload_id)
    if request.method == "OPTIONS":
        return _capabilities()
    if request.method != "POST":
        return _answer(problem(405, "method", "Create files with POST."))
    return _answer(_wrong_version(request) or _create(request, upload))


def file(request: Request, upload_id: uuid.UUID, file_id: uuid.UUID) -> HttpResponseBase:
    _own(request, upload_id)
    if request.method == "OPTIONS":
        return _capabilities()
    wrong = _wrong_version(request)
    if wrong is not None:
        return _answer(wrong)
    if request.method == "HEAD":
        return _answer(_where(_find(upload_id, file_id)))
    if request.method == "PATCH":
        return _answer(_part(request, upload_id, file_id))
    return _answer(problem(405, "method", "Ask with HEAD, send with PATCH."))


def _own(request: Request, upload_id: uuid.UUID) -> Upload:
    upload = access.one(access.visible_uploads(request.user), pk=upload_id)
    access.require(access.may_act_for(request.user, upload.team_id))
    return upload


def _find(upload_id: uuid.UUID, file_id: uuid.UUID, *, lock: bool = False) -> UploadedFile:
    rows = UploadedFile.objects.filter(upload_id=upload_id)
    return access.one(rows.select_for_update(of=("self",)) if lock else rows, pk=file_id)


def _capabilities() -> HttpResponse:
    headers = {
        "Tus-Resumable": VERSION,
        "Tus-Version": VERSION,
        "Tus-Extension": "creation",
        "Tus-Max-Size": str(settings.UPLOAD_LIMIT),
    }
    return HttpResponse(status=204, headers=headers)


def _answer(response: HttpResponse) -> HttpResponse:
    response.headers["Tus-Resumable"] = VERSION
    response.headers["Cache-Control"] = "no-store"
    return response


def _wrong_version(request: HttpRequest) -> HttpResponse | None:
    if request.headers.get("Tus-Resumable") == VERSION:
        return None
    answer = problem(412, "tus-version", f"Speak tus {VERSION}: send the header Tus-Resumable.")
    answer.headers["Tus-Version"] = VERSION
    return answer


def _create(request: HttpRequest, upload: Upload) -> HttpResponse:
    size = _number(request, "Upload-Length")
    if size is None:
        return problem(400, "upload-length", "Upload-Length must be the file's size in bytes.")
    if size > settings.UPLOAD_LIMIT:
        return problem(413, "upload-too-large", f"One upload holds at most {settings.UPLOAD_LIMIT} bytes.")
    try:
        name = quarantine.check_name(_filename(request.headers.get("Upload-Metadata", "")))
        if upload.files.count() >= MAX_FILES:
            raise Refused.one("too-many-files", name, f"An upload has at most {MAX_FILES} files.", "Leave some out.")
        row = admissions.add_file(upload, name, size)
    except Refused as refusal:
        return refused(refusal)
    address = reverse("upload-file", args=[upload.pk, row.pk])
    return HttpResponse(status=201, headers={"Location": address})


def _filename(untrusted_metadata: str) -> str:
    """The value of ``filename`` in the header: pairs of a key and base64, separated by commas."""
    for pair in untrusted_metadata.split(","):
        key, _, value = pair.strip().partition(" ")
        if key == "filename":
            try:
                return base64.b64decode(value, validate=True).decode("utf-8")
            except (binascii.Error, UnicodeDecodeError):
                break
    raise Refused.one(
        "upload-metadata", "Upload-Metadata", "There is no readable filename in it.",
        "Send 'filename' and the name in base64 of UTF-8.",
    )  # fmt: skip


def _number(request: HttpRequest, header: str) -> int | None:
    text = request.headers.get(header, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def _where(row: UploadedFile) -> HttpResponse:
    return HttpResponse(status=200, headers={"Upload-Offset": str(row.offset), "Upload-Length": str(row.size)})


def _part(request: HttpRequest, upload_id: uuid.UUID, file_id: uuid.UUID) -> HttpResponse:
    at = _number(request, "Upload-Offset")
    if request.content_type != PART:
        return problem(415, "content-type", f"A part's content type is {PART}.")
    if at is None:
        return problem(400, "upload-offset", "Upload-Offset must be a number of bytes.")
    try:
        with transaction.atomic():
            row = _find(upload_id, file_id, lock=True)
            if not Upload.objects.filter(pk=upload_id, state=Upload.State.RECEIVING).exists():
                raise Stale("closed or given up before this part came")
            if row.offset != at:
                return _conflict(row)
            limit = min(row.size - at, settings.UPLOAD_PART_LIMIT)
            count = quarantine.write(upload_id, file_id, at, _chunks(request), limit)
            reached = admissions.advance(file_id, at=at, count=count)
    except Refused as refusal:
        return refused(refusal, status=413)
    except Stale:
        return problem(409, "upload-closed", "This upload takes no more bytes.")
    return HttpResponse(status=204, headers={"Upload-Offset": str(reached)})


def _conflict(row: UploadedFile) -> HttpResponse:
    answer = problem(409, "upload-offset", f"{row.offset} bytes have arrived. Go on from there.")
    answer.headers["Upload-Offset"] = str(row.offset)
    return answer


def _chunks(request: HttpRequest) -> Iterator[bytes]:
    while chunk := request.read(1024 * 1024):
        yield chunk
