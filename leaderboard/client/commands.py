"""What each command does, over the endpoints the browser uses."""

from __future__ import annotations

import argparse
import getpass
import os
import time
import urllib.parse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from leaderboard.client import session as sessions
from leaderboard.client import showing, uploading
from leaderboard.client.endings import Ending, NothingThere, WasRefused
from leaderboard.client.session import Session, findings_text

POLL_SECONDS = 2.0


def run(options: argparse.Namespace) -> int:
    return _COMMANDS[options.command](options)


def login(options: argparse.Namespace) -> int:
    user = options.user or input("User name: ")
    if options.password_file:
        password = Path(options.password_file).read_text().rstrip("\n")
    else:
        password = getpass.getpass("Password: ")
    session = Session(options.url)
    session.login(user, password)
    session.save()
    print(f"Signed in to {session.url} as {session.get('/api/me')['username']}.")
    return 0


def logout(_: argparse.Namespace) -> int:
    for path in (sessions.file(), sessions.file().with_suffix(".url")):
        path.unlink(missing_ok=True)
    return 0


def _team(session: Session, wanted: str | None) -> str:
    teams = [team["slug"] for team in session.get("/api/me")["teams"]]
    if wanted:
        return wanted
    if len(teams) != 1:
        raise WasRefused(f"Say for which team: --team {' or '.join(teams)}" if teams else "You are in no team.")
    return str(teams[0])


def upload(options: argparse.Namespace) -> int:
    session, folder = Session.load(), Path(options.folder)
    files = uploading.accepted(session, uploading.files_of(folder), options.leave_out)
    if options.resume:
        row = session.get(f"/api/uploads/{urllib.parse.quote(options.resume, safe='')}")
    else:
        about = {"team": _team(session, options.team), "name": options.name or folder.resolve().name}
        row = session.post("/api/uploads", about | _declared(options))
    meter = showing.Meter()
    try:
        uploading.send(session, row, files, meter)
    except Ending as ending:
        meter.end()
        raise type(ending)(f"{ending}\nGo on with: heldout upload {folder} --resume {row['id']}") from ending
    meter.end()
    row = _checked(session, session.post(f"/api/uploads/{row['id']}/close", {}))
    if row["state"] == "refused":
        raise WasRefused(f"Refused.\n{findings_text(row['findings'])}")
    if options.json:
        showing.as_json(row)
    else:
        print(f"Admitted as {row['checkpoint']}\nSubmit it with: heldout submit {row['checkpoint']}")
    return 0


def _checked(session: Session, row: dict[str, Any]) -> dict[str, Any]:
    while row["state"] == "checking":
        time.sleep(POLL_SECONDS / 4)
        row = session.get(f"/api/uploads/{row['id']}")
    return row


def _declared(options: argparse.Namespace) -> dict[str, str]:
    return {"base_model": options.base_model, "training_data": options.training_data, "notes": options.notes}


def submit(options: argparse.Namespace) -> int:
    session = Session.load()
    offer = _offer(session.get("/api/offers")["offers"], options.benchmark, options.preset)
    wanted = {"checkpoint": options.checkpoint, "release": offer["release"], "preset": offer["preset"]}
    row = session.post("/api/submissions", wanted | _declared(options))
    if options.watch:
        return _watch(session, row["run"], options.json)
    if options.json:
        showing.as_json(row)
    else:
        print(f"Submitted as run {row['run']}\n{session.url}{row['page']}")
    return 0


def _offer(offers: list[dict[str, Any]], benchmark: str | None, preset: str | None) -> dict[str, Any]:
    fitting = [
        offer
        for offer in offers
        if benchmark in {None, offer["benchmark"]} and preset in {None, offer["preset_name"].split()[0]}
    ]
    if len(fitting) == 1:
        return fitting[0]
    known = "\n".join(f"  --benchmark {o['benchmark']} --preset {o['preset_name'].split()[0]}" for o in offers)
    raise WasRefused(f"Choose one of:\n{known}" if offers else "No benchmark has an active release.")


def status(options: argparse.Namespace) -> int:
    session = Session.load()
    if options.watch:
        return _watch(session, options.run, options.json)
    return _show(_run(session, options.run), options.json)


def _run(session: Session, run_id: str) -> dict[str, Any]:
    found: dict[str, Any] = session.get(f"/api/runs/{urllib.parse.quote(run_id, safe='')}")
    return found


def _watch(session: Session, run_id: str, as_json: bool) -> int:
    shown = ""
    while True:
        row = _run(session, run_id)
        line = showing.state_line(row)
        if line != shown and not as_json:
            print(line, flush=True)
            shown = line
        if row["final"]:
            return _show(row, as_json, quiet=True)
        time.sleep(POLL_SECONDS)


def _show(row: dict[str, Any], as_json: bool, quiet: bool = False) -> int:
    if as_json:
        showing.as_json(row)
    elif not quiet:
        print(showing.state_line(row))
    return 1 if row["final"] and not row["score"] else 0


def cancel(options: argparse.Namespace) -> int:
    session = Session.load()
    return 0 if session.post(f"/api/runs/{urllib.parse.quote(options.run, safe='')}/cancel", {}) else 1


def board(options: argparse.Namespace) -> int:
    session = Session.load()
    slug = options.benchmark or _only_benchmark(session)
    query = {"release": options.release, "preset": options.preset}
    text = urllib.parse.urlencode({name: value for name, value in query.items() if value})
    found = session.get(f"/boards/{urllib.parse.quote(slug, safe='')}/board.json?{text}")
    if options.json:
        showing.as_json(found)
    else:
        showing.board(found["rows"])
    return 0


def _only_benchmark(session: Session) -> str:
    slugs = sorted({offer["benchmark"] for offer in session.get("/api/offers")["offers"]})
    if len(slugs) != 1:
        raise WasRefused(f"Say which benchmark: {', '.join(slugs)}" if slugs else "There is no benchmark yet.")
    return str(slugs[0])


def replay(options: argparse.Namespace) -> int:
    """Not over HTTP: only who holds the auditor's key on the server can open the packs."""
    repository = Path(__file__).resolve().parents[2]
    if not (repository / "box").is_dir():
        raise NothingThere("Replay runs on the server, from its own repository: heldout replay RUN.")
    os.chdir(repository)
    os.execvp("python3", ["python3", "-m", "box", "replay", options.run])  # noqa: S606  no shell


_COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "login": login, "logout": logout, "upload": upload, "submit": submit, "status": status, "cancel": cancel,
    "board": board, "replay": replay,
}  # fmt: skip
