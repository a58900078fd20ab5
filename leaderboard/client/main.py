"""``heldout``: sign in, upload, submit, watch, read the board, replay.

Exit codes: 0 done · 1 a score was not reached · 2 wrong usage · 3 sign in first · 4 refused, with findings ·
5 nothing there · 6 the server can't be reached or broke · 130 interrupted
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from leaderboard.client.endings import Ending


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="heldout", description="Submit checkpoints to a Heldout server and read what came of them.",
        epilog="Exit codes: 0 done, 1 no score reached, 2 usage, 3 sign in first, 4 refused, 5 not found, 6 server.",
    )  # fmt: skip
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _login(commands.add_parser("login", help="sign in to a server"))
    commands.add_parser("logout", help="forget the session")
    _upload(commands.add_parser("upload", help="upload a checkpoint's folder and wait for its check"))
    _submit(commands.add_parser("submit", help="submit an admitted checkpoint"))
    _status(commands.add_parser("status", help="where a run stands"))
    cancel = commands.add_parser("cancel", help="stop a run")
    cancel.add_argument("run", metavar="RUN")
    _board(commands.add_parser("board", help="the board of a benchmark"))
    replay = commands.add_parser("replay", help="grade a run's sealed outputs again (on the server, as auditor)")
    replay.add_argument("run", metavar="RUN")
    return top


def _login(command: argparse.ArgumentParser) -> None:
    command.add_argument("url", metavar="URL")
    command.add_argument("--user", help="user name or e-mail; asked for when absent")
    command.add_argument("--password-file", metavar="FILE", help="read the password from here instead of asking")


def _declaration(command: argparse.ArgumentParser) -> None:
    command.add_argument("--base-model", default="", metavar="NAME", help="what it was trained from")
    command.add_argument("--training-data", default="", metavar="TEXT", help="what it saw")
    command.add_argument("--notes", default="", metavar="TEXT")


def _upload(command: argparse.ArgumentParser) -> None:
    command.add_argument("folder", metavar="FOLDER")
    command.add_argument("--name", help="how the board shows it; the folder's name when absent")
    command.add_argument("--team", metavar="SLUG", help="needed only when you are in several")
    command.add_argument("--leave-out", action="store_true", help="leave out files that are refused by their name")
    command.add_argument("--resume", metavar="UPLOAD", help="go on with an upload that stopped")
    command.add_argument("--json", action="store_true")
    _declaration(command)


def _submit(command: argparse.ArgumentParser) -> None:
    command.add_argument("checkpoint", metavar="CHECKPOINT")
    command.add_argument("--benchmark", metavar="SLUG", help="needed only when there are several")
    command.add_argument("--preset", metavar="NAME", help="needed only when there are several")
    command.add_argument("--watch", action="store_true", help="stay until it ends")
    command.add_argument("--json", action="store_true")
    _declaration(command)


def _status(command: argparse.ArgumentParser) -> None:
    command.add_argument("run", metavar="RUN")
    command.add_argument("--watch", action="store_true", help="stay until it ends")
    command.add_argument("--json", action="store_true")


def _board(command: argparse.ArgumentParser) -> None:
    command.add_argument("benchmark", metavar="BENCHMARK", nargs="?", help="its slug; needed only with several")
    command.add_argument("--release", metavar="VERSION")
    command.add_argument("--preset", metavar="NAME@VERSION")
    command.add_argument("--json", action="store_true")


def main(arguments: Sequence[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    from leaderboard.client import commands  # noqa: PLC0415  --help must not wait for urllib and its ssl

    try:
        return commands.run(options)
    except Ending as ending:
        print(ending, file=sys.stderr)
        return ending.code
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
