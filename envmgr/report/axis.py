"""A logarithmic axis: where values stand on it, and its ticks."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from envmgr.report.text import seconds

_STEPS = (1, 2, 5)
_MOST_TICKS = 8


class Tick(NamedTuple):
    """A labelled place on the axis, in per cent of its length."""

    place: float
    label: str


class Axis(NamedTuple):
    """A logarithmic axis from `low` to `high`, both above zero."""

    low: float
    high: float

    def place(self, value: float) -> float:
        """Return where a value stands, in per cent; what lies outside stands at the end."""
        share = math.log(max(value, self.low) / self.low) / math.log(self.high / self.low)
        return round(100 * min(1.0, share), 2)

    def ticks(self) -> tuple[Tick, ...]:
        """Return ticks at 1, 2 and 5 times powers of ten, fewer where they would crowd."""
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        steps = _STEPS if last - first <= _MOST_TICKS // len(_STEPS) else (1,)
        values = [step * 10.0**power for power in range(first, last + 1) for step in steps]
        inside = [value for value in values if self.low * 0.999 <= value <= self.high * 1.001]
        every = max(1, math.ceil(len(inside) / _MOST_TICKS))
        return tuple(Tick(self.place(value), seconds(value)) for value in inside[::every])


def axis_for(values: Iterable[float]) -> Axis:
    """Return an axis that holds all values, its ends at 1, 2 or 5 times a power of ten; without values, 1 to 10 s."""
    positive = [value for value in values if value > 0 and math.isfinite(value)]
    if not positive:
        return Axis(1.0, 10.0)
    low, high = _below(min(positive) / 1.05), _above(max(positive) * 1.05)
    return Axis(low, high)


def _below(value: float) -> float:
    power = 10.0 ** math.floor(math.log10(value))
    return max(step * power for step in _STEPS if step * power <= value * 1.000001)


def _above(value: float) -> float:
    power = 10.0 ** math.floor(math.log10(value))
    return min(step * power for step in (*_STEPS, 10) if step * power >= value)
