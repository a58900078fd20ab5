"""Debian's Chromium, and people in it. Whatever the page's policy or a script complains about fails the test."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests import cast as casting
from tests.installation import STATE
from tests.web.conftest import cast, real_passwords, sign_in, site

__all__ = ["cast", "real_passwords", "sign_in", "site"]

DOCUMENTS = Path(__file__).resolve().parents[2] / "docs" / "screenshots"
SHOTS = DOCUMENTS if os.environ.get("HELDOUT_SCREENSHOTS") == "keep" else STATE.root / "screenshots"
"""A run of the suite leaves the repository as it was; HELDOUT_SCREENSHOTS=keep renews the documents' pictures."""

DESK = {"width": 1180, "height": 760}
PHONE = {"width": 360, "height": 740}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    program = shutil.which("chromium")
    if program is None:
        pytest.fail("Debian's package chromium is missing: apt-get install chromium")
    # Playwright's own loop must not make Django think that tests are asynchronous code.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=program, args=arguments)
        yield browser
        browser.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


Enter = Callable[..., Page]


@pytest.fixture
def enter(chromium: Browser, site: str, real_passwords: None) -> Iterator[Enter]:
    """Open a window and sign in through the form. Complaints of the console fail the test at its end."""
    contexts: list[BrowserContext] = []
    complaints: list[str] = []

    def open_window(name: str | None, **options: Any) -> Page:
        context = chromium.new_context(base_url=site, **{"viewport": DESK, "color_scheme": "light"} | options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        if name is not None:
            page.goto("/accounts/login/")
            page.fill("#id_login", name)
            page.fill("#id_password", casting.PASSWORD)
            page.click("main button[type=submit]")
            page.wait_for_url(lambda url: "/accounts/" not in url)
        return page

    yield open_window
    for context in contexts:
        context.close()
    assert [text for text in complaints if "the server responded with a status of" not in text] == []


def shoot(page: Page, name: str, *, full: bool = False) -> None:
    """A picture for the documents; small, so that the repository stays so."""
    SHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SHOTS / f"{name}.png", full_page=full, animations="disabled")
    assert (SHOTS / f"{name}.png").stat().st_size < 200_000
