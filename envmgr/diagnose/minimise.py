"""From a world that passes to the smallest change that still does, and to the boundary between two versions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def smallest(items: Sequence[Item], holds: Callable[[Sequence[Item]], bool]) -> tuple[Item, ...]:
    """Return a subset for which `holds` is still true and from which nothing can be taken (delta debugging).

    `holds` is taken to be true of all items. It is asked at most about n² times, about 2·log₂ n for one culprit.
    """
    current, pieces = list(items), 2
    while len(current) >= 2:
        size = -(-len(current) // pieces)
        chunks = [current[at : at + size] for at in range(0, len(current), size)]
        chunk = next((chunk for chunk in chunks if len(chunk) < len(current) and holds(chunk)), None)
        if chunk is not None:
            current, pieces = chunk, 2
            continue
        rests = (
            ([item for other in chunks if other is not chunk for item in other] for chunk in chunks)
            if pieces > 2
            else ()
        )
        rest = next((rest for rest in rests if holds(rest)), None)
        if rest is not None:
            current, pieces = rest, max(pieces - 1, 2)
        elif pieces >= len(current):
            break
        else:
            pieces = min(pieces * 2, len(current))
    return tuple(current)


def boundary(points: Sequence[Item], is_good: Callable[[Item], bool | None], most: int) -> tuple[int, int]:
    """Return the positions of the last good and the first bad point known, for points that go from good to bad.

    The first is taken to be good and the last bad. `is_good` answers None for a point that cannot be judged, which is
    then passed over; after `most` questions what is known so far is returned.
    """
    good, bad, unknown = 0, len(points) - 1, set[int]()
    while most > 0:
        open_ones = [at for at in range(good + 1, bad) if at not in unknown]
        if not open_ones:
            break
        at = open_ones[len(open_ones) // 2]
        most -= 1
        answer = is_good(points[at])
        if answer is None:
            unknown.add(at)
        elif answer:
            good = at
        else:
            bad = at
    return good, bad
