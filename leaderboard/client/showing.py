"""What the command line prints. Bars and repainted lines only on a terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import Any, TextIO


class Meter:
    """One line for the file on its way."""

    def __init__(self, out: TextIO | None = None) -> None:
        self.out = out or sys.stderr
        self.alive = self.out.isatty()
        self._name = ""

    def show(self, name: str, done: int, size: int) -> None:
        if self.alive:
            share = done / size if size else 1.0
            bar = "#" * int(share * 24)
            start = "\r" if name == self._name or not self._name else "\n"
            self.out.write(f"{start}{name[:40]:40} [{bar:24}] {share:4.0%}")
        elif done >= size:
            self.out.write(f"{name}: {size} bytes\n")
        self._name = name
        self.out.flush()

    def end(self) -> None:
        if self.alive and self._name:
            self.out.write("\n")


def as_json(value: object) -> None:
    print(json.dumps(value, indent=2, ensure_ascii=False))


def state_line(run: dict[str, Any]) -> str:
    parts = [str(run["label"])]
    if run["position"]:
        parts.append(f"number {run['position']} in the queue")
    if run["state"] == "running":
        parts.append(f"{run['progress_percent']} %")
    if run["score"]:
        parts.append(f"score {percent(run['score'])}" + interval(run["low"], run["high"]))
    if run["reason"]:
        parts.append(run["reason"])
    return ", ".join(parts)


def percent(value: str | None) -> str:
    return "–" if value is None else f"{float(value) * 100:.1f} %"


def interval(low: str | None, high: str | None) -> str:
    return "" if low is None or high is None else f" (95 %: {float(low) * 100:.1f} to {float(high) * 100:.1f})"


def board(rows: Iterable[dict[str, Any]]) -> None:
    lines = [("RANK", "MODEL", "TEAM", "SCORE", "ITEMS", "SINCE")]
    for row in rows:
        rank = "–" if row["rank"] is None else f"{row['rank']}{'=' if row['tied'] else ''}"
        score = row["missing"] or percent(row["score"]) + interval(row["low"], row["high"])
        lines.append((rank, safe(row["model"]), safe(row["team"]), score, f"{row['valid']}", row["since"] or ""))
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    for line in lines:
        print("  ".join(f"{text:{width}}" for text, width in zip(line, widths, strict=True)).rstrip())


def safe(untrusted_text: str) -> str:
    """Others chose these names: nothing in them may move the cursor."""
    return "".join(character if character.isprintable() else "?" for character in untrusted_text)
