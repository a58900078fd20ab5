"""What holds on every page: policy, tokens, no effect of looking, no script from a name."""

from __future__ import annotations

import re
import uuid
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.db.models import F
from django.urls import reverse

from leaderboard.models import LogEntry, Membership, QuotaEntry, Run, Submission, Team, Upload, UploadedFile, User
from tests import cast as casting
from tests.cast import Cast
from tests.web.conftest import Visitor, as_web
from tests.web.test_access import ALL, OPEN, OPEN_ACCOUNTS, address, of_aurora

TEMPLATES = sorted((Path(settings.BASE_DIR) / "leaderboard" / "templates").rglob("*.html"))
COUNTED = (LogEntry, Membership, QuotaEntry, Run, Submission, Team, Upload, UploadedFile, User)


def test_every_page_forbids_inline_script_and_style(cast: Cast) -> None:
    policy = Visitor(cast.competitor).get("/boards/small/")["Content-Security-Policy"]
    assert "script-src 'self'" in policy
    assert "style-src 'self'" in policy
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_no_template_holds_inline_script_style_or_unescaped_text(template: Path) -> None:
    text = template.read_text()
    assert not re.search(r"\son\w+\s*=|\sstyle\s*=|<style|javascript:|\|safe\b|autoescape off|mark_safe", text)
    assert not re.search(r"<script(?![^>]*\ssrc=)", text)


def test_a_change_without_a_token_is_refused(cast: Cast) -> None:
    values = of_aurora(cast)
    visitor = Visitor(cast.captain, csrf=True)
    before = counts()
    for name, names in ALL:
        if name in OPEN or name.startswith(OPEN_ACCOUNTS):
            continue
        for method in ("POST", "PATCH", "PUT", "DELETE"):
            answer = visitor.ask(method, address(name, names, values), HTTP_TUS_RESUMABLE="1.0.0")
            assert answer.status_code == 403, (name, method, answer.status_code)
    assert counts() == before


def counts() -> dict[str, int]:
    return {model.__name__: model.objects.count() for model in COUNTED}


def test_looking_changes_nothing(cast: Cast) -> None:
    values = of_aurora(cast) | {"slug": "small", "run_id": cast.queued(cast.aurora).pk}
    UploadedFile.objects.update(offset=F("size"))  # complete: it could be closed
    before = counts(), list(Run.objects.values()), list(Upload.objects.values())
    visitor = Visitor(cast.captain)
    with as_web():
        for name, names in ALL:
            if name != "favicon" and not name.startswith(OPEN_ACCOUNTS):
                slug = "aurora" if name.startswith("team") else "small"
                for method in ("GET", "HEAD"):
                    visitor.ask(method, address(name, names, values | {"slug": slug}), HTTP_TUS_RESUMABLE="1.0.0")
    assert (counts(), list(Run.objects.values()), list(Upload.objects.values())) == before


@pytest.mark.parametrize("path", ["/nothing", "/runs/not-a-uuid/", f"/runs/{uuid.UUID(int=0)}/", "/boards/none/"])
def test_what_is_not_there_is_a_page_of_ours(cast: Cast, path: str) -> None:
    answer = Visitor(cast.stranger).get(path)
    assert answer.status_code == 404
    assert "Nothing here" in answer.content.decode()


def test_the_web_s_role_can_not_read_what_pages_must_not_show(cast: Cast) -> None:
    with as_web(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT has_table_privilege('leaderboard_grade', 'SELECT'), "
            "has_any_column_privilege('leaderboard_grade', 'SELECT')"
        )
        assert cursor.fetchone() == (False, False)


def test_signing_up_is_closed(cast: Cast) -> None:
    visitor = Visitor(None)
    form = {"username": "eve", "email": "eve@example.org", "password1": casting.PASSWORD, "password2": casting.PASSWORD}
    visitor.post(reverse("account_signup"), form)
    assert not User.objects.filter(username="eve").exists()


def test_signing_up_opens_where_the_operator_says_so(cast: Cast, settings: Any) -> None:
    settings.OPEN_SIGNUP = True
    form = {"username": "eve", "email": "eve@example.org", "password1": casting.PASSWORD, "password2": casting.PASSWORD}
    Visitor(None).post(reverse("account_signup"), form)
    assert User.objects.filter(username="eve").exists()


@pytest.mark.parametrize("name", ["account_login", "account_change_password", "account_email", "account_logout",
                                  "account_reset_password", "account_signup", "socialaccount_connections"])  # fmt: skip
def test_pages_of_the_account_are_pages_of_ours(cast: Cast, name: str) -> None:
    visitor = Visitor(cast.competitor)
    answer = visitor.get(reverse(name))
    assert answer.status_code in {200, 302}
    if answer.status_code == 200:
        assert "heldout/base" in answer.content.decode()


def test_healthz_and_readyz_answer_without_an_account(cast: Cast, settings: Any, tmp_path: Path) -> None:
    settings.INTAKE = tmp_path
    assert Visitor(None).get("/healthz").status_code == 200
    assert Visitor(None).get("/readyz").json()["ready"] is True
    settings.INTAKE = tmp_path / "absent"
    assert Visitor(None).get("/readyz").status_code == 503


def test_no_file_of_the_web_opens_its_store_by_a_client_s_name(cast: Cast) -> None:
    for path in ("/benchmarks/small/..%2F..%2Fetc/practice.jsonl", "/benchmarks/..%2F/1.0.0/practice.jsonl"):
        assert Visitor(cast.stranger).get(path).status_code == 404
