"""Locations and their uncertainty that a few wild values do not move."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

_TRIMMED_SHARE = 5
_TWO = 2


class Location(NamedTuple):
    """A trimmed mean with its standard error and that error's degrees of freedom."""

    value: float
    error: float
    freedom: float


def location(values: Sequence[float]) -> Location:
    """Return the mean without the lowest and the highest fifth, and Yuen's standard error of it (winsorised variance).

    Fewer than five values are not trimmed. At least two are needed.
    """
    ordered = sorted(values)
    count = len(ordered)
    cut = count // _TRIMMED_SHARE
    kept = ordered[cut : count - cut]
    pulled_in = [kept[0]] * cut + kept + [kept[-1]] * cut
    middle = math.fsum(pulled_in) / count
    squares = math.fsum((value - middle) ** 2 for value in pulled_in)
    size = len(kept)
    return Location(math.fsum(kept) / size, math.sqrt(squares / (size * (size - 1))), size - 1)


def median_interval(values: Sequence[float], confidence: float = 0.95) -> tuple[float, float] | None:
    """Return the percentile-bootstrap interval of the median; None for fewer than two values.

    It is what infinitely many resamples would give: which values come to stand in the middle of a resample depends on
    their ranks alone, so the probabilities are known.
    """
    if len(values) < _TWO:
        return None
    ordered = sorted(values)
    weighted = sorted(((ordered[one] + ordered[other]) / 2, weight) for one, other, weight in _middles(len(ordered)))
    tail = (1 - confidence) / 2
    return _first_beyond(weighted, tail), _first_beyond(reversed(weighted), tail)


def _first_beyond(weighted: Iterable[tuple[float, float]], share: float) -> float:
    """Return the first value at which the weights so far exceed a share; the last one where they never do."""
    reached, last = 0.0, math.nan
    for value, weight in weighted:
        reached, last = reached + weight, value
        if reached > share:
            break
    return last


@lru_cache(maxsize=64)
def _middles(count: int) -> tuple[tuple[int, int, float], ...]:
    """Return with which probability the ranks (one, other) are the middle of `count` draws out of `count` values."""
    half = count // 2
    if count % 2:
        reached = [_at_least(half + 1, count, (rank + 1) / count) for rank in range(count)]
        return tuple((rank, rank, reached[rank] - (reached[rank - 1] if rank else 0.0)) for rank in range(count))
    found = []
    below = [_at_least(half, count, rank / count) for rank in range(count + 1)]
    for one in range(count):
        left = ((one + 1) / count) ** half - (one / count) ** half
        apart = 0.0
        for other in range(one + 1, count):
            right = ((count - other) / count) ** half - ((count - other - 1) / count) ** half
            weight = math.comb(count, half) * left * right
            apart += weight
            found.append((one, other, weight))
        found.append((one, one, max(0.0, below[one + 1] - below[one] - apart)))
    return tuple(found)


def _at_least(successes: int, trials: int, chance: float) -> float:
    """Return the probability of at least so many successes."""
    return math.fsum(
        math.comb(trials, number) * chance**number * (1 - chance) ** (trials - number)
        for number in range(successes, trials + 1)
    )
