"""`make demo`: from nothing to a real model on the board, through the same doors that a team uses.

1. everything up
2. accounts with generated passwords: administrator, curator and auditor of the host team, a competitor
3. the demo benchmark, its items generated here from a fresh secret seed (once; a second demo finds it)
4. four checkpoints, each uploaded and submitted through the web application by `heldout`
5. the board, the score, and the line that replays it

Each step finds what an earlier demo left and goes on from there.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from box import checkpoints, layout, services
from box.progress import Missing, say, step
from box.state import State, folder

BENCHMARK = "everyday"
TEAM, COMPETITOR = "aurora", "alice"


@dataclass(frozen=True)
class Person:
    name: str
    team: str
    team_name: str
    role: str
    host: bool


PEOPLE = (
    Person("admin", "host", "Host", "admin", True),
    Person("curator", "host", "Host", "curator", True),
    Person("auditor", "host", "Host", "auditor", True),
    Person(COMPETITOR, TEAM, "Aurora", "competitor", False),
)


@dataclass(frozen=True)
class Entry:
    """One checkpoint of the demo: its name on the board, where it lies, and what its team declares."""

    name: str
    folder: Path
    base_model: str
    training_data: str


def run(state: State, engine: str) -> int:
    began = time.monotonic()
    services.up(state, engine)
    _people(state)
    practice = _benchmark(state)
    client = Client(state)
    with step("signing in"):
        client.login()
    results = [client.evaluate(entry) for entry in _entries(state, practice)]
    _tell(state, results, time.monotonic() - began)
    return 0 if results[0]["state"] == "scored" else 1


def _people(state: State) -> None:
    """Accounts, their generated passwords in files that only we may read."""
    place = folder(state.root / "demo", 0o700)
    for person in PEOPLE:
        password = place / f"{person.name}.password"
        if not password.exists():
            password.touch(0o600)
            password.write_text(secrets.token_urlsafe(18) + "\n")
        _account(state, person, password)


def _account(state: State, person: Person, password: Path) -> None:
    """The command runs as the web identity, which may not enter our folder: the file goes through one of its own."""
    uid, gid = layout.owner(state, "web")
    lent = state.run / "web" / f"{person.name}.password"
    try:
        lent.touch(0o600)
        lent.write_text(password.read_text())
        if state.separate:
            os.chown(lent, uid, gid)
        services.manage(
            state, "web", "account", person.name, f"--password-file={lent}", f"--team={person.team}",
            f"--team-name={person.team_name}", f"--role={person.role}", *(["--host"] if person.host else []),
        )  # fmt: skip
    finally:
        lent.unlink(missing_ok=True)


def _benchmark(state: State) -> Path:
    """The demo's benchmark and release, made once. Returns the open pack of its practice items."""
    with step("demo benchmark"):
        told = services.manage(state, "curator", "demo_benchmark", f"--slug={BENCHMARK}")
    release: dict[str, Any] = json.loads(told.splitlines()[-1])
    name = release["practice"].removeprefix("sha256:")
    return Path(state.root / "store" / "practice" / name[:2] / f"{name}.jsonl")


def _entries(state: State, practice: Path) -> list[Entry]:
    """The real model first: its score is what the demo is about."""
    real = "SmolLM2-135M-Instruct, four-bit weights expanded"
    return [
        Entry("smollm2-135m", checkpoints.smollm2(state), real, "as published"),
        Entry("smollm2-practice", checkpoints.fine_tuned(state, practice), real, "the practice items of this release"),
        Entry("smollm2-noise", checkpoints.perturbed(state), real, "none; noise on the weights"),
        Entry("tiny-random", checkpoints.tiny_random(state), "", "none; random weights"),
    ]


class Client:
    """`heldout`, as a competitor would call it: no right and no secret but a password."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._home = folder(state.root / "demo" / "client", 0o700)

    def login(self) -> None:
        password = self._state.root / "demo" / f"{COMPETITOR}.password"
        url = self._state.config()["web"]["public_url"]
        self.call("login", url, f"--user={COMPETITOR}", f"--password-file={password}")

    def evaluate(self, entry: Entry) -> dict[str, Any]:
        """Upload, submit and watch one checkpoint; or find the run of an earlier demo. The run's last state."""
        kept = self._home / f"{entry.name}.run"
        if not kept.exists():
            declared = (f"--base-model={entry.base_model}", f"--training-data={entry.training_data}")
            with step(f"uploading and checking {entry.name}"):
                told = self._json("upload", str(entry.folder), f"--name={entry.name}", "--leave-out", *declared)
            run = self._json("submit", told["checkpoint"], f"--benchmark={BENCHMARK}", *declared)
            kept.write_text(run["run"] + "\n")
        with step(f"evaluating {entry.name}"):
            state = self._json("status", kept.read_text().strip(), "--watch")
        return {"name": entry.name, **state}

    def _json(self, *arguments: str) -> dict[str, Any]:
        told = self.call(*arguments, "--json")
        found: dict[str, Any] = json.loads(told[told.index("{") :])
        return found

    def call(self, *arguments: str) -> str:
        command = (str(self._state.env("web") / "bin" / "heldout"), *arguments)
        environment = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": str(self._home),
                       "XDG_CONFIG_HOME": str(self._home)}  # fmt: skip
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode not in {0, 1}:
            raise Missing(
                f"`heldout {arguments[0]}` ended with {done.returncode}:\n{(done.stdout + done.stderr)[-2000:]}"
            )
        return done.stdout


def _tell(state: State, results: list[dict[str, Any]], seconds: float) -> None:
    say("")
    for result in results:
        say(f"  {result['name']:<20} {_score(result)}")
    url = state.config()["web"]["public_url"]
    say(f"\n  board      {url}/")
    say(f"  sign in    {COMPETITOR} (competitor), admin, curator, auditor")
    say(f"  passwords  {state.root / 'demo'}/NAME.password")
    say(f"  replay     {state.env('web') / 'bin' / 'heldout'} replay {results[0]['run']}")
    say(f"\n  {seconds:.0f} s. The services stay up; `make down` stops them.")


def _score(result: dict[str, Any]) -> str:
    if result["score"] is None:
        return f"{result['label']}: {result['reason'] or 'no score'}"
    score, low, high = (100 * float(result[name]) for name in ("score", "low", "high"))
    return f"{score:.1f} %  (95 % interval {low:.1f} to {high:.1f})"
