"""A database that restarts must not cost a model hours of work: try again while it is away.

Only for functions that are one transaction and refuse to happen twice (each names the state it expects). If the
commit went through and only its answer was lost, the second try finds the row moved and raises ``Stale``.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from django.db import InterfaceError, OperationalError, connection

from evaluator.errors import Stale

P = ParamSpec("P")
R = TypeVar("R")

log = logging.getLogger(__name__)

SECONDS = 120.0
OURS = "HO"
"""Class of the error codes that guards.sql raises."""


def patiently(action: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Call ``action``; while the database can't be reached, again, for two minutes at most."""
    deadline = time.monotonic() + SECONDS
    while True:
        try:
            return action(*args, **kwargs)
        except (OperationalError, InterfaceError) as error:
            code = getattr(error.__cause__, "sqlstate", None) or ""
            if code.startswith(OURS):
                raise Stale(f"the database refused: {error}") from error
            if time.monotonic() > deadline:
                raise
            log.warning("the database is away, trying again: %s", type(error).__name__)
            connection.close()
            time.sleep(1)
