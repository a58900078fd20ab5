"""``python -m bench [NAME ...]``: run the comparisons, print their tables, write ``var/bench/NAME.json``.

Ends with 1 when an aim was not met, so that a caller can tell; the figures are written either way.
"""

from __future__ import annotations

import argparse
import importlib
import sys

from bench.report import write
from box.state import here

COMPARISONS = ("command", "grading", "hostside", "memory", "guest")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench")
    parser.add_argument("names", nargs="*", choices=[*COMPARISONS, []], help="all of them when none is named")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args(arguments)
    met = True
    for name in options.names or COMPARISONS:
        comparison = importlib.import_module(f"bench.{name}").compare(options.rounds)
        path = write(comparison, here().root / "bench")
        print(comparison.table(), f"  written to {path.relative_to(here().root.parent)}\n", sep="\n", flush=True)
        met = met and comparison.met
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
