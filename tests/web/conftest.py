"""The cast on an empty database, and a visitor who asks as the web's own database role."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.db import connection
from django.http import HttpResponse
from django.test import Client

from box import daemons, processes
from leaderboard.client.session import Session
from leaderboard.models import User
from tests import cast as casting
from tests.cast import Cast
from tests.installation import STATE
from tests.services import as_identity, role


@pytest.fixture
def cast(database: None) -> Cast:
    return casting.assemble()


@contextmanager
def as_web() -> Iterator[None]:
    """As the web's role; at no cost where we are it already."""
    if connection.settings_dict["USER"] == role("web"):
        yield
    else:
        with as_identity("web"):
            yield


@dataclass
class Visitor:
    """Somebody with a browser. ``None`` is nobody: not signed in."""

    user: User | None = None
    csrf: bool = False

    def __post_init__(self) -> None:
        self.client = Client(enforce_csrf_checks=self.csrf, raise_request_exception=True)
        if self.user is not None:
            with as_web():
                self.client.force_login(self.user, "django.contrib.auth.backends.ModelBackend")

    def ask(self, method: str, path: str, **options: Any) -> HttpResponse:
        with as_web():
            answer: HttpResponse = self.client.generic(method, path, **options)
        return answer

    def get(self, path: str, **options: Any) -> HttpResponse:
        return self.ask("GET", path, **options)

    def text(self, path: str) -> str:
        answer = self.get(path)
        assert answer.status_code == 200, (path, answer.status_code)
        return answer.content.decode()

    def post(self, path: str, values: dict[str, Any] | None = None) -> HttpResponse:
        with as_web():
            answer: HttpResponse = self.client.post(path, values or {})
        return answer

    def send(self, path: str, value: object) -> HttpResponse:
        with as_web():
            answer: HttpResponse = self.client.post(path, value, content_type="application/json")
        return answer


@pytest.fixture(scope="session")
def site() -> Iterator[str]:
    """The address of a real web server and its worker, in processes of their own under IDENTITY=web."""
    names = ("web-worker", "web")
    for name in names:
        daemons.stop(STATE, name)  # one left over may run yesterday's code
    rows = [processes.daemon(STATE, row) for row in processes.table(STATE) if row.name in names]
    spawned = [(daemons.spawn(STATE, row), row) for row in rows]
    for process, row in spawned:
        if process is not None:
            daemons.wait(STATE, process, row)
    assert daemons.pid(STATE, "web"), "another server has the port"
    web = STATE.config()["web"]
    yield f"http://{web['host']}:{web['port']}"
    for name in names:
        daemons.stop(STATE, name)


@pytest.fixture
def real_passwords(cast: Cast) -> None:
    """The test process hashes passwords fast and badly; a real server takes no such hash."""
    encoded = PBKDF2PasswordHasher().encode(casting.PASSWORD, "salt", iterations=1000)
    User.objects.update(password=encoded)


@pytest.fixture
def sign_in(site: str, real_passwords: None) -> Callable[[str], Session]:
    """Sign in to the real server through its form."""

    def enter(name: str) -> Session:
        session = Session(site)
        session.login(name, casting.PASSWORD)
        return session

    return enter


def cookies_of(session: Session) -> str:
    return "; ".join(f"{cookie.name}={cookie.value}" for cookie in session.jar)
