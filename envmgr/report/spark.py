"""Samples as a line of blocks."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

_BLOCKS = "▁▂▃▄▅▆▇█"
_ASCII = "_.-=+*#@"


def sparkline(samples: Sequence[float], width: int, *, unicode: bool = True) -> str:
    """Return samples in their order, the fastest lowest, from 0.8 times to 1.25 times their median if they stay inside.

    More samples than `width` are drawn together by their medians.

    >>> sparkline([1.0, 1.0, 1.25], 8), sparkline([], 8)
    ('▄▄█', '')
    """
    if not samples:
        return ""
    drawn = samples
    if len(samples) > width:
        size = len(samples) / width
        drawn = [median(samples[round(start * size) : round((start + 1) * size)]) for start in range(width)]
    middle = median(drawn)
    low, high = min(0.8 * middle, *drawn), max(1.25 * middle, *drawn)
    signs = _BLOCKS if unicode else _ASCII
    step = (high - low) / len(signs)
    if not step:
        return signs[len(signs) // 2 - 1] * len(drawn)
    reached = signs + signs[-1]  # the highest value stands at the end of the last step
    return "".join([reached[int((value - low) / step)] for value in drawn])
