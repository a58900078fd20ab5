"""Keeps a lease while the work goes on, and stops the work when the lease is lost or someone cancels.

A thread of its own with a database connection of its own: the work may sit in a read for minutes. It never works on
the run itself; it tells, through ``stop``, the one call that ends the guest.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from types import TracebackType

from django.db import DatabaseError, connection

from evaluator.errors import Stale
from evaluator.records.lifecycle import State
from leaderboard.ledger import runs
from leaderboard.ledger.guard import Claim

log = logging.getLogger(__name__)


class Heartbeat:
    """A context: beats every ``seconds`` from entry to exit. ``stop`` is called at most once, from the thread."""

    def __init__(self, claim: Claim, state: State, *, seconds: float, stop: Callable[[], None]) -> None:
        self._claim, self._state, self._seconds, self._stop = claim, state, seconds, stop
        self._done = self._total = 0
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)
        self.cancelled = False
        self.lost = False

    def progress(self, done: int, total: int) -> None:
        """Figures for the next beat."""
        self._done, self._total = done, total

    def __enter__(self) -> Heartbeat:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._end.set()
        self._thread.join()

    def _beat(self) -> None:
        try:
            while not self._end.wait(self._seconds):
                if self._once():
                    self._stop()
                    return
        finally:
            connection.close()

    def _once(self) -> bool:
        """One beat; whether the work must stop. A database that is away for a moment is not a lost lease yet."""
        try:
            pulse = runs.heartbeat(self._claim, self._state, done=self._done, total=self._total)
        except Stale:
            self.lost = True
        except DatabaseError as error:
            log.warning("no heartbeat for run %s: %s", self._claim.run_id, error)
            connection.close()
        else:
            self.cancelled = pulse.cancel_requested
        return self.lost or self.cancelled
