"""Days to try, and which of them next: a search along time for one on which every used name exists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

_FIRST = date(2017, 1, 1)
_REGULAR = date(2017, 3, 1)
TYPICAL = "2018-03-01"
"""The day to try first when nothing tells of another: Python 3 had its wheels, and few old names were gone yet."""

_STEP_MONTHS = 6
_SETTLED = timedelta(days=150)
_STAYS, _RETURNS, _TURNS, _UNKNOWN, _BREAKS = 0.9, 0.55, 0.5, 0.3, 0.05
_UNBUILDABLE, _LOOKED_AT = 0.7, 0.4


@dataclass(frozen=True, slots=True)
class Era:
    """A day to resolve as of (empty: without a limit) and a Python of that time."""

    day: str
    python: str


def days_between(first: str, today: date) -> tuple[str, ...]:
    """Return the days worth trying, half a year apart, oldest first; the last is empty: no limit.

    >>> days_between("2025-01-01", date(2026, 1, 15))
    ('2025-03-01', '2025-09-01', '')
    """
    found = [_FIRST.isoformat()] if _FIRST.isoformat() >= first else []
    day = _REGULAR
    while day < today - timedelta(days=120):
        if day.isoformat() >= first:
            found.append(day.isoformat())
        month = day.month - 1 + _STEP_MONTHS
        day = date(day.year + month // 12, month % 12 + 1, 1)
    return (*found, "")


def pythons_of(day: str, pythons: Sequence[str], released: Mapping[str, str]) -> tuple[str, ...]:
    """Return the Pythons that had settled in on a day, the newest first; the oldest there is when none had.

    >>> pythons_of("2019-07-01", ["3.6", "3.7", "3.8"], {"3.6": "2016-12-23", "3.7": "2018-06-27", "3.8": "2019-10-14"})
    ('3.7', '3.6')
    """
    ordered = sorted(pythons, key=_number, reverse=True)
    if not day:
        return tuple(ordered)
    limit = (date.fromisoformat(day) - _SETTLED).isoformat()
    settled = tuple(each for each in ordered if released.get(each, "9") <= limit)
    return settled or tuple(ordered[-1:])


def _number(minor: str) -> tuple[int, ...]:
    return tuple(int(part) for part in minor.split("."))


def next_era(
    count: int,
    tried: Mapping[int, frozenset[str] | None],
    starts: Sequence[int],
    foreseen: Mapping[int, frozenset[str]] | None = None,
) -> int | None:
    """Return which of `count` eras to try next: the one in which the fewest names should be missing; None after all.

    `tried` holds the names that were missing in each era tried so far, None where it could not be built; `foreseen`
    those that an era seems to lack, without having been tried (none where a look found nothing lacking). What is
    missing on both sides of an era is taken to be missing in it, unless other names turn there; what is missing on one
    side alone turns somewhere between. The `starts` come first, in their order, where nothing is foreseen against them.
    """
    certain = {at: names for at, names in (foreseen or {}).items() if names}
    seen_whole = {at for at, names in (foreseen or {}).items() if not names}
    left = [at for at in range(count) if at not in tried]
    if not left:
        return None
    first = next((at for at in starts if at in left and at not in certain), None)
    if first is not None:
        return first
    known = {**certain, **tried}

    def rank(at: int) -> tuple[float, int, int, int]:
        others = {place: names for place, names in known.items() if place != at}
        expected = max(_expected(at, others), _STAYS * len(certain.get(at, ())))
        if at in seen_whole:
            expected *= _LOOKED_AT
        nearest_start = min((abs(at - start) for start in starts), default=0) if not tried else 0
        return round(expected, 3), nearest_start, -_distance(at, tried), at

    return min(left, key=rank)


def _expected(at: int, tried: Mapping[int, frozenset[str] | None]) -> float:
    """Return how many names are expected to be missing, and a part of one for what could not be built near by."""
    known = {place: names for place, names in tried.items() if names is not None}
    before = max((place for place in known if place < at), default=None)
    after = min((place for place in known if place > at), default=None)
    lost = known[before] if before is not None else None
    absent = known[after] if after is not None else None
    expected = 0.0
    for name in (lost or frozenset()) | (absent or frozenset()):
        if lost is None or absent is None:
            expected += _RETURNS
        elif name in lost and name in absent:
            expected += _STAYS if lost == absent else _TURNS
        else:
            expected += _UNKNOWN
    if not known:
        expected += _BREAKS
    near = [place for place, names in tried.items() if names is None and abs(place - at) <= 2]  # noqa: PLR2004 - a year
    return expected + _UNBUILDABLE * len(near)


def _distance(at: int, tried: Mapping[int, frozenset[str] | None]) -> int:
    return min((abs(at - place) for place in tried), default=0)
