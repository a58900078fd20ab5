"""Numbered start-up checks. A process that fails one of these errors does not start.

Django runs system checks for its own commands only; web servers and Celery workers never ask. ``enforce`` is therefore
called whenever our application is loaded, by whatever process.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register
from django.core.checks import Warning as CheckWarning
from django.core.exceptions import ImproperlyConfigured

from leaderboard.identities import IDENTITIES

_OIDC = re.compile(r"oidc-[A-Za-z0-9_-]+\.secret")
"""Client secrets of identity providers: the operator puts them there, one file for each in config.json."""


@register()
def own_secrets_only(app_configs: object, **kwargs: Any) -> list[CheckMessage]:
    """E001: an identity can read another's secrets. E002: a secret lies in its folder that the table doesn't name."""
    if settings.IDENTITY not in IDENTITIES:
        return []
    identity = IDENTITIES[settings.IDENTITY]
    problems: list[CheckMessage] = [
        Error(
            f"{identity.name} holds {name}, which is not its own.",
            hint=f"Remove it from {settings.SECRETS}; leaderboard/identities.py names what belongs there.",
            id="heldout.E002",
        )
        for name in _names(settings.SECRETS)
        if name not in identity.secrets() and not (identity.name == "web" and _OIDC.fullmatch(name))
    ]
    if settings.CONFIG.get("uid_base") is not None:
        problems += [_readable(path) for path in _foreign(settings.STATE / "secrets") if os.access(path, os.R_OK)]
    return problems


def _readable(path: Path) -> CheckMessage:
    return Error(
        f"{settings.IDENTITY} can read {path}, another identity's secret.",
        hint="Secrets are 0400 and owned by their identity's uid; 'make doctor' says how to mend them.",
        id="heldout.E001",
    )


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def _foreign(secrets: Path) -> Iterator[Path]:
    """Secret files of other identities. A folder that we can't list hides its files, as it should."""
    for name in [*IDENTITIES, "owner"]:
        if name == settings.IDENTITY:
            continue
        try:
            yield from sorted((secrets / name).iterdir())
        except OSError:
            continue


@register()
def web_holds_no_private_key(app_configs: object, **kwargs: Any) -> list[CheckMessage]:
    """E003: the process that faces the world holds a key that opens or signs packs."""
    if settings.IDENTITY != "web":
        return []
    keys = [name for name in _names(settings.SECRETS) if name in {"vault.key", "signing.key"}]
    return [
        Error(f"The web process holds {name}.", hint="Remove it: the web holds public keys only.", id="heldout.E003")
        for name in keys
    ]


@register()
def no_pool_under_prefork(app_configs: object, **kwargs: Any) -> list[CheckMessage]:
    """E004: forked workers would share one connection pool and wait for each other (celery/celery#9953)."""
    options = settings.DATABASES["default"].get("OPTIONS", {})
    worker = Path(sys.argv[0]).name == "celery" and "worker" in sys.argv
    solo = any("solo" in argument or "threads" in argument for argument in sys.argv)
    if not (options.get("pool") and worker and not solo):
        return []
    return [
        Error(
            "The database pool is on in a worker that forks.",
            hint="Start the worker with --pool=solo, or take 'pool' out of the identity's OPTIONS.",
            id="heldout.E004",
        )
    ]


@register()
def no_debug_in_public(app_configs: object, **kwargs: Any) -> list[CheckMessage]:
    """E005: DEBUG shows settings and source to whoever can reach the address."""
    public = [host for host in settings.ALLOWED_HOSTS if not _private(host)]
    if not (settings.DEBUG and public):
        return []
    return [
        Error(
            f"DEBUG is on while the server answers to {', '.join(public)}.",
            hint="Unset HELDOUT_DEBUG, or serve 127.0.0.1 only.",
            id="heldout.E005",
        )
    ]


def _private(host: str) -> bool:
    if host in {"localhost", "testserver"}:
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


@register()
def one_user_for_all(app_configs: object, **kwargs: Any) -> list[CheckMessage]:
    """W001: all identities share one operating-system user. Recorded in every run's provenance as well."""
    if settings.IDENTITY not in IDENTITIES or settings.CONFIG.get("uid_base") is not None:
        return []
    return [
        CheckWarning(
            "All identities run as one operating-system user.",
            hint="Start as root to give each a uid of its own; database roles, broker users and keys are separate.",
            id="heldout.W001",
        )
    ]


def enforce() -> None:
    """Raise ``ImproperlyConfigured`` with every error and its remedy, or return."""
    checks = (own_secrets_only, web_holds_no_private_key, no_pool_under_prefork, no_debug_in_public)
    found = [message for check in checks for message in check(None) if message.is_serious()]
    if found:
        raise ImproperlyConfigured("\n".join(f"{message.id}: {message.msg} {message.hint}" for message in found))
