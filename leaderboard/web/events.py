"""Server-sent events of a run: one poller for all open streams of this process; a stream holds no connection.

An event's id is the number of practice items sent so far, so that a browser that comes back goes on where it was.

    event: state      the rendered state, whenever it changed
    event: practice   one rendered practice item
    event: end        nothing more will come
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from asgiref.sync import sync_to_async
from django.db import connection
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.template.loader import render_to_string

from leaderboard.web import access, live
from leaderboard.web.live import PracticeItem, Snapshot

POLL_SECONDS = 1.0
BEAT_SECONDS = 15.0
STREAM_SECONDS = 900.0
"""Then the browser connects again, and its rights are looked at again."""


@dataclass
class Channel:
    """One run that somebody watches: what was read of it so far, rendered once for all who watch."""

    followers: int = 0
    snapshot: Snapshot | None = None
    state_html: str = ""
    items: list[str] = field(default_factory=list)
    whole: bool = False
    news: asyncio.Event = field(default_factory=asyncio.Event)

    def take(self, snapshot: Snapshot, items: list[str], state_html: str) -> None:
        whole = snapshot.final and len(items) < live.PAGE
        if snapshot == self.snapshot and not items and whole == self.whole:
            return
        self.snapshot, self.state_html = snapshot, state_html
        self.items += items
        self.whole = whole
        self.news.set()
        self.news = asyncio.Event()


@dataclass
class Hub:
    """The poller of one event loop. It runs while somebody watches."""

    channels: dict[uuid.UUID, Channel] = field(default_factory=dict)
    task: asyncio.Task[None] | None = None

    @contextmanager
    def follow(self, run_id: uuid.UUID) -> Iterator[Channel]:
        channel = self.channels.setdefault(run_id, Channel())
        channel.followers += 1
        if self.task is None or self.task.done():
            self.task = asyncio.create_task(self._poll())
        try:
            yield channel
        finally:
            channel.followers -= 1
            if channel.followers == 0:
                self.channels.pop(run_id, None)

    async def _poll(self) -> None:
        while self.channels:
            known = {run_id: len(channel.items) for run_id, channel in self.channels.items()}
            for run_id, (snapshot, items, state_html) in (await _read(known)).items():
                if run_id in self.channels:
                    self.channels[run_id].take(snapshot, items, state_html)
            await asyncio.sleep(POLL_SECONDS)


_hubs: dict[int, Hub] = {}


def hub() -> Hub:
    return _hubs.setdefault(id(asyncio.get_running_loop()), Hub())


def _read_now(known: dict[uuid.UUID, int]) -> dict[uuid.UUID, tuple[Snapshot, list[str], str]]:
    """Read and render what is new, then give the connection back at once."""
    try:
        found = {}
        for run_id, snapshot in live.snapshots(known).items():
            items = [practice_html(item) for item in live.practice(run_id, known[run_id])]
            found[run_id] = (snapshot, items, state_html(snapshot))
        return found
    finally:
        connection.close()


_read = sync_to_async(_read_now, thread_sensitive=False)


def state_html(snapshot: Snapshot) -> str:
    return render_to_string("runs/_state.html", {"snapshot": snapshot})


def practice_html(item: PracticeItem) -> str:
    return render_to_string("runs/_practice.html", {"item": item})


def _frame(event: str, data: str, number: int) -> str:
    lines = "\n".join(f"data: {line}" for line in data.splitlines())
    return f"id: {number}\nevent: {event}\n{lines}\n\n"


async def _stream(run_id: uuid.UUID, sent: int) -> AsyncIterator[str]:
    ends = asyncio.get_running_loop().time() + STREAM_SECONDS
    shown = ""
    with hub().follow(run_id) as channel:
        yield "retry: 2000\n\n"
        while asyncio.get_running_loop().time() < ends:
            news = channel.news
            for html in channel.items[sent:]:
                sent += 1
                yield _frame("practice", html, sent)
            if channel.state_html != shown:
                shown = channel.state_html
                yield _frame("state", shown, sent)
            if channel.whole and sent >= len(channel.items):
                yield _frame("end", "-", sent)
                return
            try:
                await asyncio.wait_for(news.wait(), BEAT_SECONDS)
            except TimeoutError:
                yield ": still here\n\n"


def _allow(request: HttpRequest, run_id: uuid.UUID) -> None:
    try:
        access.one(access.visible_runs(request.user), pk=run_id)  # type: ignore[arg-type]
    finally:
        connection.close()


async def stream(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse | StreamingHttpResponse:
    """The view. Rights are checked and the connection is given back before the first byte is sent."""
    await sync_to_async(_allow)(request, run_id)
    untrusted_number = request.headers.get("Last-Event-ID") or request.GET.get("after", "0")
    sent = int(untrusted_number) if untrusted_number.isascii() and untrusted_number.isdigit() else 0
    response = StreamingHttpResponse(_stream(run_id, min(sent, 10**6)), content_type="text/event-stream")
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Accel-Buffering"] = "no"
    return response
