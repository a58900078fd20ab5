"""The event stream of a run, against a real server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import pytest
from django.db import connection

from leaderboard.client.session import Session
from leaderboard.models import Run
from tests import cast as casting
from tests.cast import Cast
from tests.web.conftest import cookies_of

SignIn = Callable[[str], Session]

pytestmark = pytest.mark.usefixtures("site")


@asynccontextmanager
async def opened(site: str, path: str, cookie: str, *headers: str) -> AsyncIterator[asyncio.StreamReader]:
    at = urlsplit(site)
    reader, writer = await asyncio.open_connection(at.hostname, at.port)
    lines = [f"GET {path} HTTP/1.1", f"Host: {at.netloc}", f"Cookie: {cookie}", *headers, "", ""]
    writer.write("\r\n".join(lines).encode())
    await writer.drain()
    try:
        yield reader
    finally:
        writer.close()


async def read_until(reader: asyncio.StreamReader, text: str, seconds: float = 10) -> str:
    got = ""
    async with asyncio.timeout(seconds):
        while text not in got:
            chunk = await reader.read(65536)
            assert chunk, f"the stream ended before {text!r}: {got[-300:]}"
            got += chunk.decode()
    return got


def running(cast: Cast) -> Run:
    run = cast.queued()
    with casting.unguarded("leaderboard_run"):
        casting.move(run, "running")
    return run


def test_states_and_practice_items_come_as_they_happen(cast: Cast, site: str, sign_in: SignIn) -> None:
    run = running(cast)
    cookie = cookies_of(sign_in("competitor"))

    async def watch() -> str:
        async with opened(site, f"/runs/{run.pk}/events", cookie) as reader:
            got = await read_until(reader, "event: state")
            await asyncio.to_thread(in_thread, lambda: casting.practise(run, 2))
            got += await read_until(reader, "id: 2")
            await asyncio.to_thread(in_thread, lambda: finish(run))
            return got + await read_until(reader, "event: end")

    got = asyncio.run(watch())
    assert got.index("Running") < got.index("What is 1 + 1?") < got.index("Failed")
    assert got.count("event: practice") == 2


def in_thread(act) -> None:  # type: ignore[no-untyped-def]
    act()
    connection.close()


def finish(run: Run) -> None:
    with casting.unguarded("leaderboard_run"):
        casting.move(run, "failed", reason="checkpoint.load")


def test_a_browser_that_comes_back_goes_on_where_it_was(cast: Cast, site: str, sign_in: SignIn) -> None:
    run = running(cast)
    casting.practise(run, 5)
    finish(run)
    cookie = cookies_of(sign_in("competitor"))

    async def again() -> str:
        async with opened(site, f"/runs/{run.pk}/events?after=0", cookie, "Last-Event-ID: 3") as reader:
            return await read_until(reader, "event: end")

    got = asyncio.run(again())
    assert got.count("event: practice") == 2
    assert "id: 4" in got
    assert "id: 5" in got


def test_a_rival_gets_no_stream(cast: Cast, site: str, sign_in: SignIn) -> None:
    run = running(cast)
    cookie = cookies_of(sign_in("rival"))

    async def look() -> str:
        async with opened(site, f"/runs/{run.pk}/events", cookie) as reader:
            return (await reader.readline()).decode()

    assert "404" in asyncio.run(look())


def test_many_streams_hold_no_connection_and_the_board_still_loads(cast: Cast, site: str, sign_in: SignIn) -> None:
    run = running(cast)
    cookie = cookies_of(sign_in("competitor"))

    async def crowd() -> tuple[float, int]:
        streams = [opened(site, f"/runs/{run.pk}/events", cookie) for _ in range(120)]
        readers = [await stream.__aenter__() for stream in streams]
        try:
            await asyncio.gather(*(read_until(reader, "event: state", 60) for reader in readers))
            begun = time.monotonic()
            async with opened(site, "/boards/small/", cookie, "Connection: close") as board:
                assert "200" in (await board.readline()).decode()
            return time.monotonic() - begun, await asyncio.to_thread(busy)
        finally:
            for stream in streams:
                await stream.__aexit__(None, None, None)

    seconds, connections = asyncio.run(crowd())
    assert seconds < 5
    assert connections <= 24, "a pool for the server and one for the worker, whatever the number of streams"


def busy() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE usename = 'heldout_web' AND application_name = ''")
        (count,) = cursor.fetchone()
    connection.close()
    return int(count)
