"""Where along a line it changed: pure, the asking is the caller's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Turn:
    """The place of the change: the last good and the first bad position, and those between that could not be tried."""

    last_good: int
    first_bad: int
    untried: tuple[int, ...] = ()


def bisect(good: int, bad: int, is_good: Callable[[int], bool | None]) -> Turn:
    """Return where good turns into bad between two known ends, after at most ⌈log₂(bad - good)⌉ questions.

    An answer of None (it could not be tried) costs questions of its own: its nearest neighbours are asked instead.

    >>> bisect(0, 39, lambda day: day < 17)
    Turn(last_good=16, first_bad=17, untried=())
    """
    dead: set[int] = set()
    while True:
        place = _middle(good, bad, dead)
        if place is None:
            return Turn(good, bad, tuple(sorted(each for each in dead if good < each < bad)))
        answer = is_good(place)
        if answer is None:
            dead.add(place)
        elif answer:
            good = place
        else:
            bad = place


def _middle(good: int, bad: int, dead: set[int]) -> int | None:
    """Return the position nearest to the middle that can still be asked, None when there is none."""
    middle = (good + bad) // 2
    candidates = [place for place in range(good + 1, bad) if place not in dead]
    return min(candidates, key=lambda place: (abs(place - middle), place)) if candidates else None
