"""The time axis: seconds to a share of the picture's width.

A gang may be held for minutes and then bound in milliseconds. A long time in which nothing
changes is therefore drawn short, with a visible break that says how long it was.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

LONG_SECONDS = 20.0
"""A quiet time longer than this may be cut short."""
_BREAK_SHARE = 0.18
"""The width that a quiet time gets when it is cut short, against all that is not."""
_TICKS = 5


@dataclass(frozen=True)
class Break:
    """A quiet time that is drawn shorter than it was."""

    start: float
    end: float


class Scale:
    """Maps times between `start` and `end` to shares between 0 and 1, the same for all pictures."""

    def __init__(self, start: float, end: float, moments: Iterable[float] = ()) -> None:
        self.start = start
        self.end = max(end, start + 0.001)
        self.breaks = _quiet(self.start, self.end, moments)
        shown = self.end - self.start - sum(one.end - one.start for one in self.breaks)
        self._break_width = shown * _BREAK_SHARE
        self._shown = shown
        self._width = shown + self._break_width * len(self.breaks)

    def at(self, time: float) -> float:
        """Tell where a time is, from 0 (left) to 1 (right); times outside stick to the edge."""
        time = min(max(time, self.start), self.end)
        width = time - self.start
        for one in self.breaks:
            length = one.end - one.start
            if time >= one.end:
                width -= length - self._break_width
            elif time > one.start:
                width -= (time - one.start) * (1 - self._break_width / length)
        return width / self._width

    def ticks(self) -> list[float]:
        """Choose round times for the axis, none inside a break."""
        step = round_step(self._shown / _TICKS)
        edges = [self.start, *(edge for one in self.breaks for edge in (one.start, one.end))]
        return [
            round(number * step, 6)
            for start, end in zip(edges[::2], [*edges[1::2], self.end], strict=True)
            for number in range(math.ceil(start / step - 1e-6), math.floor(end / step + 1e-6) + 1)
        ]


def round_step(rough: float) -> float:
    """Round up to 1, 2 or 5 times a power of ten."""
    power: float = 10.0 ** math.floor(math.log10(rough))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * 0.999)


def _quiet(start: float, end: float, moments: Iterable[float]) -> list[Break]:
    """Find the long gaps between moments, with a margin on both sides, that are worth cutting."""
    times = sorted({start, end, *(time for time in moments if start < time < end)})
    margin = LONG_SECONDS / 10
    gaps = [
        Break(before + margin, after - margin)
        for before, after in pairwise(times)
        if after - before > LONG_SECONDS
    ]
    cut = sum(gap.end - gap.start for gap in gaps)
    return gaps if cut > (end - start) / 2 else []
