"""Keeps a lease while the work goes on, and tells the work to stop when the lease is lost or someone cancels.

A thread of its own with a database connection of its own: the work may sit in a read for minutes. It never touches
the run's work; whoever works asks ``raise_if_stopped`` about once a second.
"""

from __future__ import annotations

import logging
import threading
from types import TracebackType

from django.db import DatabaseError, connection

from evaluator.errors import Stale
from evaluator.records.lifecycle import State
from leaderboard.ledger import runs
from leaderboard.ledger.guard import Claim

log = logging.getLogger(__name__)


class Cancelled(Exception):
    """Somebody who may asked for this run to be cancelled."""


class Heartbeat:
    """A context: beats every ``seconds`` from entry to exit."""

    def __init__(self, claim: Claim, state: State, *, seconds: float) -> None:
        self._claim, self._state, self._seconds = claim, state, seconds
        self._progress: tuple[int, int] | None = None
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)
        self._cancelled = self._lost = False

    def progress(self, done: int, total: int) -> None:
        """Figures for the next beat."""
        self._progress = (done, total)

    def raise_if_stopped(self) -> None:
        """``Stale`` when the lease was lost, ``Cancelled`` when the run is to be cancelled."""
        if self._lost:
            raise Stale(f"the lease on run {self._claim.run_id} was lost")
        if self._cancelled:
            raise Cancelled

    def __enter__(self) -> Heartbeat:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._end.set()
        self._thread.join()

    def _beat(self) -> None:
        try:
            while not self._lost and not self._end.wait(self._seconds):
                self._once()
        finally:
            connection.close()

    def _once(self) -> None:
        """One beat. A database that is away for a moment is not a lost lease yet: the lease itself will tell."""
        done, total = self._progress or (None, None)
        try:
            pulse = runs.heartbeat(self._claim, self._state, done=done, total=total)
        except Stale:
            self._lost = True
        except DatabaseError as error:
            log.warning("no heartbeat for run %s: %s", self._claim.run_id, error)
            connection.close()
        else:
            self._cancelled = pulse.cancel_requested
