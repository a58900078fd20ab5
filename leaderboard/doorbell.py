"""What every task begins with: one UUID in, or an incident; never an exception for a forged message."""

from __future__ import annotations

import logging
import os
import platform
import uuid

log = logging.getLogger(__name__)


def row_id(untrusted_text: object) -> uuid.UUID | None:
    """The row a hint points at; ``None``, and a line for the operators, where it is no UUID."""
    if isinstance(untrusted_text, str) and len(untrusted_text) == 36:
        try:
            return uuid.UUID(untrusted_text)
        except ValueError:
            pass
    log.warning("a hint that is no UUID was ignored (%d characters)", len(str(untrusted_text)))
    return None


def worker_name() -> str:
    """Host and process: who holds a lease. For operators, never shown to submitters."""
    return f"{platform.node()}:{os.getpid()}"[:120]
