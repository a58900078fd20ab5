"""Numbers as people read them, and the interval bars of the board as coordinates for an SVG."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal

from leaderboard.standings import Standing

WIDTH = 200
MISSING = "–"


def percent(value: Decimal | None) -> str:
    """One decimal, without the sign: the column's head carries it."""
    if value is None:
        return MISSING
    return str((value * 100).quantize(Decimal("0.1"), ROUND_HALF_EVEN))


@dataclass(frozen=True)
class Scale:
    """The stretch of scores that all bars of one board share, in whole tenths."""

    low: Decimal
    high: Decimal

    def x(self, value: Decimal) -> float:
        share = (value - self.low) / (self.high - self.low)
        return round(float(min(max(share, Decimal(0)), Decimal(1))) * WIDTH, 1)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        tenths = round((self.high - self.low) * 10)
        step = 1 if tenths <= 4 else 2 if tenths <= 8 else 5
        values = [self.low + Decimal(number) / 10 for number in range(0, tenths + 1, step)]
        return [(self.x(value), str(round(value * 100))) for value in values]


@dataclass(frozen=True)
class Bar:
    """An interval and its point."""

    start: float
    point: float
    end: float

    @property
    def length(self) -> float:
        return round(max(self.end - self.start, 1.0), 1)


def scale(rows: Iterable[Standing]) -> Scale:
    entries = [row.entry for row in rows if row.entry.score is not None]
    lows = [entry.low if entry.low is not None else entry.score for entry in entries]
    highs = [entry.high if entry.high is not None else entry.score for entry in entries]
    low = math.floor(min((value for value in lows if value is not None), default=Decimal(0)) * 10)
    high = math.ceil(max((value for value in highs if value is not None), default=Decimal(1)) * 10)
    return Scale(Decimal(low) / 10, Decimal(max(high, low + 1)) / 10)


def bar(row: Standing, on: Scale) -> Bar | None:
    score = row.entry.score
    if score is None:
        return None
    low = row.entry.low if row.entry.low is not None else score
    high = row.entry.high if row.entry.high is not None else score
    return Bar(on.x(low), on.x(score), on.x(high))


_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")


def size(count: int) -> str:
    value, unit = float(count), 0
    while value >= 1024 and unit < len(_UNITS) - 1:
        value, unit = value / 1024, unit + 1
    return f"{count} bytes" if unit == 0 else f"{value:.1f} {_UNITS[unit]}"


def number(count: int) -> str:
    """1 234 567 with thin spaces."""
    return f"{count:,}".replace(",", "\u2009")


def short_number(count: int) -> str:
    """Parameters of a model: 134.5 M, 7.2 B."""
    for limit, unit in ((10**9, "B"), (10**6, "M"), (10**3, "K")):
        if count >= limit:
            return f"{count / limit:.1f} {unit}"
    return str(count)
