"""The one-machine set-up, by command. `make help` says what each is for.

python3 -m box up | down | status | doctor | env [NAME …] | images [ENGINE …] | demo [--engine ENGINE]
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path

from box import debian, demo, doctor, engine, environments, home, images, layout, processes, services
from box.progress import Missing, say
from box.state import REPOSITORY, State, here


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="box", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("command", choices=sorted(COMMANDS))
    parser.add_argument("names", nargs="*")
    parser.add_argument("--engine", choices=images.ENGINES, default="transformers")
    chosen, more = parser.parse_known_args(arguments)
    chosen.names += more
    try:
        _from_a_readable_place(arguments)
        return COMMANDS[chosen.command](here(), chosen)
    except Missing as missing:
        say(f"\n{missing}")
        return 1
    except KeyboardInterrupt:
        say("\nstopped; run it again to go on")
        return 130


def _from_a_readable_place(arguments: list[str]) -> None:
    """Start again from the copy where the clone is closed to the identities' Unix users."""
    place = home.settle(REPOSITORY)
    if place != REPOSITORY:
        os.chdir(place)
        os.execv(sys.executable, [sys.executable, "-m", "box", *arguments])  # noqa: S606  # the same command, another folder


def up(state: State, chosen: argparse.Namespace) -> int:
    services.up(state, chosen.engine)
    say(f"  up: {state.config()['web']['public_url']}")
    return 0


def run_demo(state: State, chosen: argparse.Namespace) -> int:
    return demo.run(state, chosen.engine)


def replay(state: State, chosen: argparse.Namespace) -> int:
    """As the auditor, who alone may open every pack. The code is that of `manage.py replay`."""
    command = [str(state.python("web")), str(REPOSITORY / "manage.py"), "replay", *chosen.names]
    uid, gid = layout.owner(state, "auditor")
    if state.separate:
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)
    os.execve(command[0], command, services.environment(state, "auditor"))  # noqa: S606


def down(state: State, _: argparse.Namespace) -> int:
    services.down(state)
    test = State(state.root / "test", state.separate)
    if test.config_file.exists():
        services.down(test)
    return 0


def status(state: State, _: argparse.Namespace) -> int:
    for name, pid in processes.status(state).items():
        say(f"  {name:12} {pid or '-'}")
    return 0


def env(state: State, chosen: argparse.Namespace) -> int:
    for name in chosen.names or ["web", "dev"]:
        environments.ensure(state, name)
    return 0


def build_images(state: State, chosen: argparse.Namespace) -> int:
    engine.ensure(state)
    for name in chosen.names or images.ENGINES:
        say(f"  {name} {images.ensure(state, name)}")
    return 0


def test(state: State, chosen: argparse.Namespace) -> int:
    """Everything the suite needs, then pytest in this process's place, so that its closing line stays the last."""
    python = environments.ensure(state, "dev")
    environments.ensure(state, "web")
    debian.require("chromium", "chromium", "tests of the pages")
    engine.ensure(state)
    for name in images.ENGINES:
        images.ensure(state, name)
    os.chdir(REPOSITORY)
    parallel = () if chosen.names else ("-n", "2", "--dist", "loadscope")  # two: everything shares this machine's cores
    os.execv(python, [str(python), "-m", "pytest", *parallel, *chosen.names])  # noqa: S606


def bench(state: State, chosen: argparse.Namespace) -> int:
    """The comparisons, against services that are up."""
    services.up(state, chosen.engine)
    python = environments.ensure(state, "dev")
    os.chdir(REPOSITORY)
    os.execv(python, [str(python), "-m", "bench", *chosen.names])  # noqa: S606


def check(state: State, _: argparse.Namespace) -> int:
    """ruff, mypy and the import contracts. The first that fails ends it."""
    programs = environments.ensure(state, "dev").parent
    for words in (("ruff", "check", "."), ("ruff", "format", "--check", "."), ("mypy",), ("lint-imports",)):
        code = os.spawnve(os.P_WAIT, programs / words[0], list(words), _check_environment(state))  # noqa: S606
        if code:
            return code
    return 0


def _check_environment(state: State) -> dict[str, str]:
    return dict(os.environ) | {"IDENTITY": "none", "HELDOUT_STATE": str(state.root)}


def diagnose(state: State, _: argparse.Namespace) -> int:
    return doctor.run(state)


COMMANDS: dict[str, Callable[[State, argparse.Namespace], int]] = {
    "demo": run_demo, "replay": replay, "up": up, "down": down, "status": status, "env": env,
    "images": build_images, "test": test, "bench": bench, "check": check, "doctor": diagnose,
}  # fmt: skip

if __name__ == "__main__":
    os.chdir(Path(REPOSITORY))
    sys.exit(main(sys.argv[1:]))
