"""What a comparison gives: figures with spread, ratios paired by round, aims, and a table to read."""

from __future__ import annotations

import datetime as dt
import json
import os
import platform
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Figure:
    """One thing measured once per round, in ``unit``."""

    name: str
    unit: str
    values: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    def as_json(self) -> dict[str, Any]:
        return {"name": self.name, "unit": self.unit, "median": self.median, "values": list(self.values)}


@dataclass(frozen=True)
class Aim:
    """``value`` must be at most (or at least) ``bound``."""

    name: str
    value: float
    bound: float
    at_most: bool = True

    @property
    def met(self) -> bool:
        return self.value <= self.bound if self.at_most else self.value >= self.bound

    def as_json(self) -> dict[str, Any]:
        sign = "at most" if self.at_most else "at least"
        return {"name": self.name, "value": self.value, "aim": f"{sign} {self.bound:g}", "met": self.met}


@dataclass(frozen=True)
class Comparison:
    name: str
    work: str
    figures: Sequence[Figure]
    aims: Sequence[Aim]
    notes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def met(self) -> bool:
        return all(aim.met for aim in self.aims)

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "work": self.work,
            "at": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
            "machine": {"cores": os.cpu_count(), "kernel": platform.release(), "load": os.getloadavg()[0]},
            "figures": [figure.as_json() for figure in self.figures],
            "aims": [aim.as_json() for aim in self.aims],
            "met": self.met,
            "notes": dict(self.notes),
        }

    def table(self) -> str:
        lines = [f"{self.name}: {self.work}"]
        for figure in self.figures:
            spread = f"{min(figure.values):.4g} to {max(figure.values):.4g}"
            lines.append(f"  {figure.name:<44} {figure.median:>10.4g} {figure.unit:<12} ({spread})")
        for aim in self.aims:
            bound = f"{'≤' if aim.at_most else '≥'} {aim.bound:g}"
            lines.append(f"  {aim.name:<44} {aim.value:>10.4g} aim {bound:<8} {'met' if aim.met else 'NOT MET'}")
        lines += [f"  {key}: {value}" for key, value in self.notes.items()]
        return "\n".join(lines)


def ratio(above: Figure, below: Figure) -> float:
    """Median of the ratios paired by round: noise that both contenders shared cancels."""
    return statistics.median(a / b for a, b in zip(above.values, below.values, strict=True))


def write(comparison: Comparison, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{comparison.name}.json"
    path.write_text(json.dumps(comparison.as_json(), indent=2) + "\n")
    return path
