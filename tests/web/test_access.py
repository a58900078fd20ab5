"""Who reaches what: every route of the URL map, so that a new one is covered the day it is added."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator

import pytest
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from tests import cast as casting
from tests.cast import Cast
from tests.web.conftest import Visitor, as_web

OPEN = {"healthz", "readyz", "favicon"}
"""Routes of ours for people who are not signed in; allauth's own stand apart below."""

OPEN_ACCOUNTS = ("account_", "socialaccount_", "openid_connect_", "confirm_email")

SHARED = {
    "home", "board", "board-csv", "board-json", "benchmarks", "benchmark", "practice", "submit", "checkpoints", "runs",
    "teams", "api-me", "api-offers", "api-names", "api-uploads", "api-submissions",
}  # fmt: skip
"""Routes for everybody signed in. What they hold is filtered, and tested by its content."""

METHODS = ("GET", "POST", "PATCH", "HEAD", "PUT", "DELETE")


def routes() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Name and arguments of each route of ours; Django's admin is tested as a whole."""
    for pattern in get_resolver().url_patterns:
        if isinstance(pattern, URLResolver):
            if pattern.namespace == "admin":
                continue
            nested = [one for one in pattern.url_patterns if isinstance(one, URLPattern)]
            yield from ((one.name or "", tuple(one.pattern.regex.groupindex)) for one in nested)
        else:
            yield pattern.name or "", tuple(pattern.pattern.regex.groupindex)


ALL = [(name, names) for name, names in routes() if name]
OWNED = [(name, names) for name, names in ALL if name not in SHARED | OPEN and not name.startswith(OPEN_ACCOUNTS)]


def address(name: str, names: tuple[str, ...], values: dict[str, object]) -> str:
    return reverse(name, kwargs={each: values[each] for each in names})


def of_aurora(cast: Cast) -> dict[str, object]:
    rows: dict[str, object] = dict(casting.a_row_of_everything(cast))
    return rows | {"slug": "aurora", "version": "1.0.0"}


def of_nobody(rows: dict[str, object]) -> dict[str, object]:
    return {name: uuid.uuid4() if isinstance(value, uuid.UUID) else "nobody" for name, value in rows.items()}


def test_the_map_was_read() -> None:
    assert {"run", "provenance", "upload-file", "team-role", "api-run-cancel"} <= {name for name, _ in OWNED}


@pytest.mark.parametrize("who", ["rival", "stranger", "curator"])
@pytest.mark.parametrize("method", METHODS)
def test_another_team_s_rows_look_like_no_rows(cast: Cast, who: str, method: str) -> None:
    theirs = of_aurora(cast)
    nobody, visitor = of_nobody(theirs), Visitor(cast.people[who])
    with as_web():
        for name, names in OWNED:
            found = visitor.ask(method, address(name, names, theirs), HTTP_TUS_RESUMABLE="1.0.0")
            missing = visitor.ask(method, address(name, names, nobody), HTTP_TUS_RESUMABLE="1.0.0")
            assert found.status_code == missing.status_code, name
            assert found.status_code in {404, 405}, (name, found.status_code)
            assert plain(found.content) == plain(missing.content), name


def plain(body: bytes) -> bytes:
    """Without what differs from answer to answer: tokens against forgery."""
    return re.sub(rb'value="\w{64}"', b"", body)


@pytest.mark.parametrize("method", METHODS)
def test_nobody_gets_further_than_the_sign_in_page(cast: Cast, method: str) -> None:
    values = of_aurora(cast)
    visitor = Visitor(None)
    for name, names in ALL:
        if name in OPEN or name.startswith(OPEN_ACCOUNTS):
            continue
        with as_web():
            answer = visitor.ask(method, address(name, names, values))
        assert answer.status_code in {302, 401}, (name, answer.status_code)
        assert answer.status_code == 401 or answer["Location"].startswith("/accounts/login/"), name


@pytest.mark.parametrize("who", ["rival", "stranger", "curator"])
def test_shared_pages_name_nothing_of_another_team_but_the_board(cast: Cast, who: str) -> None:
    values = of_aurora(cast)
    visitor = Visitor(cast.people[who])
    for name, names in ALL:
        if name not in SHARED:
            continue
        text = visitor.get(address(name, names, values | {"slug": "small"})).content.decode()
        for key in ("run_id", "upload_id", "checkpoint_id"):
            assert str(values[key]) not in text, name
        if not name.startswith("board"):
            assert "aurora-secret" not in text, name


def test_the_team_itself_sees_its_rows(cast: Cast) -> None:
    values = of_aurora(cast)
    for who in ("competitor", "captain"):
        visitor = Visitor(cast.people[who])
        for name in ("run", "provenance", "provenance-json", "checkpoint", "upload", "api-run", "api-upload"):
            names = next(names for each, names in OWNED if each == name)
            assert visitor.get(address(name, names, values)).status_code == 200, name


def test_an_auditor_reads_every_run_and_moves_none(cast: Cast) -> None:
    values = of_aurora(cast)
    visitor = Visitor(cast.auditor)
    assert visitor.get(reverse("run", args=[values["run_id"]])).status_code == 200
    assert visitor.post(reverse("run-cancel", args=[values["run_id"]])).status_code == 404
    assert visitor.get(reverse("checkpoint-submit", args=[values["checkpoint_id"]])).status_code == 404
    assert visitor.send(reverse("api-upload-close", args=[values["upload_id"]]), {}).status_code == 404
    assert visitor.send(reverse("api-run-cancel", args=[values["run_id"]]), {}).status_code == 404
    assert visitor.post(reverse("upload-discard", args=[values["upload_id"]])).status_code == 404
    wanted = {
        "checkpoint": str(values["checkpoint_id"]),
        "release": str(cast.release.pk),
        "preset": str(cast.preset.pk),
    }
    assert visitor.send(reverse("api-submissions"), wanted).status_code == 404
    file = reverse("upload-file", args=[values["upload_id"], values["file_id"]])
    assert visitor.ask("HEAD", file, HTTP_TUS_RESUMABLE="1.0.0").status_code == 404


def test_a_rival_s_upload_takes_no_bytes_of_mine(cast: Cast) -> None:
    values = of_aurora(cast)
    path = reverse("upload-file", args=[values["upload_id"], values["file_id"]])
    headers = {"HTTP_TUS_RESUMABLE": "1.0.0", "HTTP_UPLOAD_OFFSET": "0"}
    answer = Visitor(cast.rival).ask(
        "PATCH", path, data=b"0123456789", content_type="application/offset+octet-stream", **headers
    )
    assert answer.status_code == 404


def test_a_file_of_one_upload_is_not_found_under_another(cast: Cast) -> None:
    values = of_aurora(cast)
    other = casting.admissions.open_upload(cast.borealis, cast.rival, "theirs", casting.admissions.Declaration())
    path = reverse("upload-file", args=[other.pk, values["file_id"]])
    assert Visitor(cast.rival).ask("HEAD", path, HTTP_TUS_RESUMABLE="1.0.0").status_code == 404


def test_a_public_board_opens_boards_and_nothing_else(cast: Cast, settings) -> None:  # type: ignore[no-untyped-def]
    values = of_aurora(cast) | {"slug": "small"}
    settings.CONFIG = {**settings.CONFIG, "web": {**settings.CONFIG.get("web", {}), "public_board": True}}
    visitor = Visitor(None)
    for name, names in ALL:
        if name in OPEN or name.startswith(OPEN_ACCOUNTS):
            continue
        status = visitor.get(address(name, names, values)).status_code
        opened = name in {"home", "board", "board-csv", "board-json", "benchmarks", "benchmark", "practice"}
        assert (status in {302, 401}) != opened or name == "home", (name, status)
