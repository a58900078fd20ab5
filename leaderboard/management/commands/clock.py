"""``manage.py clock``: gives expired leases back and repeats hints, every few seconds, for ever."""

from __future__ import annotations

import logging
import signal
import threading
import time

from django.conf import settings
from django.core.management import BaseCommand, CommandError
from django.db import DatabaseError, connection

from leaderboard.ledger.sweeping import Pacer, sweep

log = logging.getLogger(__name__)


class Command(BaseCommand):
    help = "Give expired leases back and repeat hints (IDENTITY=clock)."

    def handle(self, *args: object, **options: object) -> None:
        if settings.IDENTITY != "clock":
            raise CommandError("the clock runs as itself: set IDENTITY=clock")
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        pacer = Pacer()
        while not stop.wait(settings.HEARTBEAT_SECONDS):
            self._once(pacer)

    def _once(self, pacer: Pacer) -> None:
        """A database that is away stops nothing: the next round finds what this one could not."""
        try:
            done = sweep(pacer, time.monotonic())
        except DatabaseError as error:
            log.warning("no sweep: %s", error)
            connection.close()
            return
        if done.returned or done.ended:
            log.info("gave back %d expired leases, ended %d runs", done.returned, done.ended)
