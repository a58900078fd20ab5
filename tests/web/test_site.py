"""A real server in front of what Django never sees, and who signs in to it."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.urls import reverse

from box import daemons
from leaderboard.client import uploading
from leaderboard.client.session import Session
from tests import cast as casting
from tests.cast import Cast
from tests.installation import STATE
from tests.web.conftest import Visitor, as_web


def raw(site: str, *lines: str, body: bytes = b"") -> str:
    at = urlsplit(site)
    with socket.create_connection((at.hostname or "", at.port or 0), timeout=20) as talk:
        talk.sendall("\r\n".join([*lines, f"Host: {at.netloc}", "Connection: close", "", ""]).encode() + body)
        got = b""
        while chunk := talk.recv(65536):
            got += chunk
    return got.decode(errors="replace")


def test_a_body_longer_than_a_part_is_refused_before_it_is_read(cast: Cast, site: str) -> None:
    answer = raw(site, "POST /accounts/login/ HTTP/1.1", "Content-Length: 99999999999")
    assert answer.startswith("HTTP/1.1 413")


def test_a_body_without_a_length_is_cut_off(cast: Cast, site: str) -> None:
    chunk = b"100000\r\n" + b"x" * 0x100000 + b"\r\n"
    try:
        answer = raw(site, "POST /accounts/login/ HTTP/1.1", "Transfer-Encoding: chunked", body=chunk * 20)
    except ConnectionError:
        return  # hung up while we were still sending
    assert not answer.startswith("HTTP/1.1 200")


def test_the_server_stays_small_while_bytes_arrive(
    cast: Cast, site: str, sign_in: Callable[[str], Session], tmp_path: Path
) -> None:
    session = sign_in("competitor")
    row = session.post("/api/uploads", {"team": "aurora", "name": "large"})
    with (tmp_path / "model.safetensors").open("wb") as large:
        large.truncate(256 * 1024 * 1024)
    uploading.send(session, row, {"model.safetensors": tmp_path / "model.safetensors"}, uploading.Meter())
    assert resident(daemons.pid(STATE, "web") or 0) < 200
    assert resident(daemons.pid(STATE, "web-worker") or 0) < 200


def resident(pid: int) -> float:
    """MiB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise AssertionError(f"no process {pid}")


def test_guessing_a_password_ends_after_a_few_tries(cast: Cast) -> None:
    visitor = Visitor(None)

    def guess(password: str) -> int:
        form = {"login": "rival", "password": password}
        with as_web():
            return int(visitor.client.post(reverse("account_login"), form, REMOTE_ADDR="10.11.12.13").status_code)

    for _ in range(6):
        guess("wrong")
    assert guess(casting.PASSWORD) != 302, "even the right one has to wait now"


def test_a_provider_of_the_operator_s_choice_may_be_offered(cast: Cast, settings: Any) -> None:
    app = {"provider_id": "lab", "name": "Our lab", "client_id": "x", "secret": "y",
           "settings": {"server_url": "https://login.example.org"}}  # fmt: skip
    settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": [app]}}
    text = Visitor(None).text(reverse("account_login"))
    assert "Sign in with Our lab" in text
    assert 'action="/accounts/oidc/lab/login/' in text


@pytest.mark.parametrize("name", ["account_login", "account_reset_password"])
def test_an_unknown_person_and_a_known_one_get_the_same_answer(cast: Cast, name: str) -> None:
    def answer(person: str) -> bytes:
        form = {"login": person, "password": "wrong", "email": f"{person}@example.org"}
        with as_web():
            got = Visitor(None).client.post(reverse(name), form, REMOTE_ADDR=f"10.1.1.{len(person)}")
        return bytes(got.content.replace(person.encode(), b"")) + str(got.status_code).encode()

    def plain(body: bytes) -> bytes:
        import re

        return re.sub(rb'value="\w{64}"', b"", body)

    assert plain(answer("captain")) == plain(answer("nobody-here"))
