"""Where along a line it changed: pure, the asking is the caller's."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

Answer = Callable[[int], bool | None]


@dataclass(frozen=True, slots=True)
class Turn:
    """The place of the change: the last good and the first bad position, and those between that tell nothing.

    `untried` could not be asked; `flaky` answered otherwise when asked again.
    """

    last_good: int
    first_bad: int
    untried: tuple[int, ...] = ()
    flaky: tuple[int, ...] = ()


class FlakyEndError(Exception):
    """Tells that an end of the line, asked again, answered otherwise: `place` is its position."""

    def __init__(self, place: int) -> None:
        super().__init__(place)
        self.place = place


@dataclass(slots=True)
class _Known:
    """What has been found out: `good` ascends and `bad` descends, so that the last of each is nearest to the change."""

    good: list[int]
    bad: list[int]
    dead: set[int] = field(default_factory=set)
    flaky: set[int] = field(default_factory=set)
    settled: set[int] = field(default_factory=set)

    @property
    def turn(self) -> Turn:
        low, high = self.good[-1], self.bad[-1]
        untried = tuple(sorted(each for each in self.dead - self.flaky if low < each < high))
        return Turn(low, high, untried, tuple(sorted(each for each in self.flaky if low < each < high)))


def bisect(good: int, bad: int, is_good: Answer, again: Answer | None = None) -> Turn:
    """Return where good turns into bad between two known ends, after at most ⌈log₂(bad - good)⌉ questions.

    An answer of None (it could not be tried) costs questions of its own: others between the ends are asked instead.
    With `again` the two places on which the result rests are asked once more; one that disagrees with itself is flaky,
    tells nothing, and the search goes on around it. Raises FlakyEndError when that is an end of the line.

    >>> bisect(0, 39, lambda day: day < 17)
    Turn(last_good=16, first_bad=17, untried=(), flaky=())
    """
    known = _Known([good], [bad])
    while True:
        _search(known, is_good)
        if again is None:
            return known.turn
        doubtful = _unsettled(known, again)
        if doubtful is None:
            return known.turn
        if doubtful in {good, bad}:
            raise FlakyEndError(doubtful)
        known.flaky.add(doubtful)
        known.dead.add(doubtful)
        for places in (known.good, known.bad):
            if doubtful in places:
                places.remove(doubtful)


def most_questions(places: int) -> int:
    """Return how many places of a line are asked at most, its two ends among them, when every one of them answers.

    >>> most_questions(2), most_questions(40), most_questions(64)
    (3, 8, 8)
    """
    return max(places - 1, 0).bit_length() + 2


def _search(known: _Known, is_good: Answer) -> None:
    while True:
        place = _middle(known.good[-1], known.bad[-1], known.dead)
        if place is None:
            return
        answer = is_good(place)
        if answer is None:
            known.dead.add(place)
        elif answer:
            insort(known.good, place)
        else:
            insort(known.bad, place, key=lambda each: -each)


def _unsettled(known: _Known, again: Answer) -> int | None:
    """Ask the two places on which the result rests once more, and return the one that disagrees with itself."""
    for place, expected in ((known.good[-1], True), (known.bad[-1], False)):
        if place in known.settled:
            continue
        if again(place) is not expected:
            return place
        known.settled.add(place)
    return None


def _middle(good: int, bad: int, dead: set[int]) -> int | None:
    """Return the middle of the widest stretch of which nothing is known, None when there is none.

    Of several that are equally wide it is the one nearest to the middle.
    """
    marks = sorted({good, bad, *(place for place in dead if good < place < bad)})
    middle = (good + bad) // 2
    gaps = [(low, high) for low, high in pairwise(marks) if high - low > 1]
    if not gaps:
        return None
    low, high = min(gaps, key=lambda gap: (gap[0] - gap[1], abs((gap[0] + gap[1]) // 2 - middle)))
    return (low + high) // 2
