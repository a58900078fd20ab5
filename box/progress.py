"""What a person sees while the box works: one line for each long step, with its time."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager


class Missing(Exception):
    """Something this machine lacks and that we can't or may not install. The text is one sentence on what to do."""


def say(text: str) -> None:
    """Print one line now, also into a pipe."""
    print(text, flush=True)


@contextmanager
def step(what: str) -> Iterator[None]:
    """Say what begins, then how long it took. A failure is said too and goes on upwards."""
    started = time.monotonic()
    sys.stdout.write(f"  {what} … ")
    sys.stdout.flush()
    try:
        yield
    except BaseException:
        say(f"failed after {time.monotonic() - started:.0f} s")
        raise
    say(f"{time.monotonic() - started:.1f} s")
