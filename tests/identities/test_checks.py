"""What must not run does not start: tried as that process, with the real fault in its way."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from box import layout
from tests.identities.processes import run_as
from tests.installation import STATE

LOAD = "import django; django.setup(); print('started')"


@contextmanager
def planted(path: Path, owner: str, mode: int = 0o400) -> Iterator[None]:
    """A file that should not be where it is."""
    path.write_text("x")
    os.chown(path, *layout.owner(STATE, owner))
    path.chmod(mode)
    try:
        yield
    finally:
        path.unlink()


def test_a_sound_identity_starts() -> None:
    assert run_as("web", LOAD).stdout == "started\n"


@pytest.mark.root
@pytest.mark.parametrize("key", ["vault.key", "signing.key"])
def test_the_web_does_not_start_with_a_private_key(key: str) -> None:
    with planted(STATE.secret("web", key), "web"):
        done = run_as("web", LOAD)
    assert "heldout.E003" in done.stderr
    assert "started" not in done.stdout


@pytest.mark.root
def test_an_identity_does_not_start_with_a_secret_that_is_not_its_own() -> None:
    with planted(STATE.secret("runner", "django.key"), "runner"):
        done = run_as("runner", LOAD)
    assert "heldout.E002: runner holds django.key" in done.stderr


@pytest.mark.root
def test_an_identity_does_not_start_when_it_can_read_another_s_secret() -> None:
    folder = STATE.secrets / "curator"
    folder.chmod(0o755)
    try:
        with planted(folder / "open.key", "curator", 0o444):
            done = run_as("runner", LOAD)
    finally:
        folder.chmod(0o700)
    assert "heldout.E001: runner can read" in done.stderr


def test_a_pool_does_not_start_under_prefork() -> None:
    code = "import sys; sys.argv = ['celery', '-A', 'x', 'worker', '--pool=prefork']; " + LOAD
    assert "heldout.E004" in run_as("web", code).stderr
    assert run_as("web", code.replace("prefork", "solo")).stdout == "started\n"


def test_debug_does_not_start_where_others_can_reach_it() -> None:
    code = """
        import os
        os.environ["HELDOUT_DEBUG"] = "True"
        from django.conf import settings
        settings.ALLOWED_HOSTS = ["board.example.org"]
        import django
        django.setup()
    """
    assert "heldout.E005" in run_as("web", code).stderr


def test_an_unknown_identity_is_refused_by_name() -> None:
    done = run_as("web", "import os; os.environ['IDENTITY'] = 'root'; " + LOAD)
    assert "IDENTITY is 'root'" in done.stderr


def test_a_client_secret_in_the_open_config_is_refused_and_in_its_file_taken() -> None:
    provider = {"provider_id": "corp", "name": "Corp", "client_id": "heldout", "settings": {"server_url": "https://x"}}
    before = STATE.config().get("openid_connect", [])
    try:
        STATE.configure(openid_connect=[provider | {"secret": "open"}])
        assert "move 'secret' to secrets/web/oidc-PROVIDER_ID.secret" in run_as("web", LOAD).stderr
        STATE.configure(openid_connect=[provider])
        assert "oidc-corp.secret" in run_as("web", LOAD).stderr
        with planted(STATE.secret("web", "oidc-corp.secret"), "web"):
            assert run_as("web", LOAD).stdout == "started\n"
    finally:
        STATE.configure(openid_connect=before)
