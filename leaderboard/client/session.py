"""HTTP with the site's own session: the same sign-in form, cookies and CSRF token as a browser.

The cookies lie in a file that only its owner may read, below XDG_CONFIG_HOME. The password is never kept.
"""

from __future__ import annotations

import http.cookiejar
import json
import os
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from email.message import Message
from pathlib import Path
from typing import Any

from leaderboard.client.endings import Ending, NothingThere, ServerTrouble, SignInFirst, WasRefused

TIMEOUT = 120


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Message
    body: bytes

    def json(self) -> Any:
        try:
            return json.loads(self.body)
        except ValueError as error:
            raise ServerTrouble(
                "The server did not answer in JSON. Is this the address of a Heldout server?"
            ) from error


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


def file() -> Path:
    folder = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return folder / "heldout" / "session"


class Session:
    def __init__(self, url: str) -> None:
        if not url.startswith(("http://", "https://")):
            raise WasRefused(f"{url} is no address of a server: begin with https:// or http://")
        self.url = url.rstrip("/")
        self.jar = http.cookiejar.MozillaCookieJar()
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.jar), _NoRedirect())

    @classmethod
    def load(cls) -> Session:
        path = file()
        try:
            url = path.with_suffix(".url").read_text().strip()
            session = cls(url)
            session.jar.load(str(path), ignore_discard=True)
        except (OSError, http.cookiejar.LoadError) as error:
            raise SignInFirst("Sign in first: heldout login URL") from error
        return session

    def save(self) -> None:
        path = file()
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        for each in (path, path.with_suffix(".url")):
            each.unlink(missing_ok=True)
            os.close(os.open(each, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        self.jar.save(str(path), ignore_discard=True)
        path.with_suffix(".url").write_text(self.url + "\n")

    def login(self, user: str, password: str) -> None:
        self._send("GET", "/accounts/login/")
        form = {"login": user, "password": password, "csrfmiddlewaretoken": self._token()}
        answer = self._send("POST", "/accounts/login/", urllib.parse.urlencode(form).encode())
        if answer.status == 429:
            raise SignInFirst("Too many attempts. Wait a minute.")
        if answer.status != 302:
            raise SignInFirst("The user name or the password is wrong.")

    def _token(self) -> str:
        return next((cookie.value or "" for cookie in self.jar if cookie.name == "csrftoken"), "")

    def ask(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Send, and turn every refusal into its ending."""
        answer = self._send(method, path, body, headers)
        if answer.status < 300 or answer.status == 409:
            return answer
        raise _ending(answer)

    def get(self, path: str) -> Any:
        return self.ask("GET", path).json()

    def post(self, path: str, value: object) -> Any:
        answer = self.ask("POST", path, json.dumps(value).encode(), {"Content-Type": "application/json"})
        if answer.status == 409:
            raise _ending(answer)
        return answer.json()

    def _send(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        request = urllib.request.Request(  # noqa: S310  __init__ takes http and https only
            self.url + path, data=body, method=method, headers=dict(headers or {})
        )
        request.add_header("Referer", self.url + "/")
        request.add_header("X-CSRFToken", self._token())
        try:
            with self._opener.open(request, timeout=TIMEOUT) as response:
                return Answer(response.status, response.headers, response.read())
        except urllib.error.HTTPError as error:
            return Answer(error.code, error.headers, error.read())
        except (urllib.error.URLError, OSError, ValueError) as error:
            reason = getattr(error, "reason", error)
            raise ServerTrouble(f"{self.url} can't be reached: {reason}") from error


def _ending(answer: Answer) -> Ending:
    if answer.status in {302, 401, 403}:
        return SignInFirst("The session has ended. Sign in again: heldout login URL")
    if answer.status == 404:
        return NothingThere("There is nothing here, or it isn't yours to see.")
    if answer.status >= 500:
        return ServerTrouble(f"Something broke on the server ({answer.status}). Try again later.")
    return WasRefused(_findings(answer))


def _findings(answer: Answer) -> str:
    try:
        body = json.loads(answer.body)
    except ValueError:
        return f"The server refused this ({answer.status})."
    return findings_text(body.get("findings") or []) or str(body.get("detail", f"Refused ({answer.status})."))


def findings_text(findings: list[dict[str, str]]) -> str:
    return "\n".join(f"{one['where']}: {one['problem']} {one['remedy']}".strip() for one in findings)
