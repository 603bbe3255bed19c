"""Are the rounds so far enough? Decided by how much values scatter, never by how cells differ."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from envmgr.model.cell import Further
from envmgr.model.rounds import RoundsEnd
from envmgr.stats.compare import CHOSEN_ROUNDS, Measured, judge_all

OFTEN_CROWDED = 0.2
CROWDED_SHOWS = 0.025
"""Where more than the share OFTEN_CROWDED of the processes ran beside other programs, a change as small as this must
show: such programs shift single rounds by whole percents, so that few rounds leave equal cells undecided."""


@dataclass(frozen=True, slots=True)
class SoFar:
    """What there is of one cell: the seconds of each process that came to some, by round; which rounds it has had.

    `cost` are the seconds that whole processes took in the first rounds, `crowded` the rounds beside other programs.
    """

    values: Mapping[int, float]
    rounds: frozenset[int]
    cost: Sequence[float]
    crowded: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Course:
    """How cells that are compared go on: which of them lack the round `number`; or why there is no further one.

    `shows` and `wanted` are the smallest change that shows and that is to show.
    """

    number: int
    missing: tuple[str, ...]
    shows: float
    wanted: float
    ended: RoundsEnd | None


def smallest_change(cells: Sequence[Mapping[int, float]]) -> float:
    """Return the smallest relative change that a comparison of cells, each with the next, would show 4 times of 5.

    It depends on how the ratio of two cells scatters from round to round, and stays the same when all values of a cell
    are multiplied by a number. A single cell is taken with itself one round later. Infinite for too few values.
    """
    if len(cells) == 1:
        later = {number - 1: value for number, value in cells[0].items()}
        pairs = [Measured(cells[0], later, paired=True)]
    else:
        pairs = [Measured(one, other, paired=True) for one, other in pairwise(cells)]
    # One by one: how sure each pair must be for its change to show does not depend on what the others show.
    shown = [judge_all([pair], CHOSEN_ROUNDS)[0].smallest_change for pair in pairs]
    return max(math.inf if change is None else change for change in shown)


def course(cells: Mapping[str, SoFar], fewest: int, further: Further) -> Course:
    """Return how cells go on that all have their first `fewest` rounds.

    A round that has been begun is ended. Another one follows while the cells that may go on would not show a change of
    `further.shows`, or less on a crowded machine. How many rounds a cell may have is settled by its first ones, so that
    later values do not decide.
    """
    limits = {name: _limit(cell, fewest, further) for name, cell in cells.items()}
    wanted = min(further.shows, CROWDED_SHOWS) if _often_crowded(cells.values()) else further.shows
    last = max((number for cell in cells.values() for number in cell.rounds), default=0)
    if last >= fewest and (missing := _missing(cells, limits, last)):
        return Course(last, missing, _shown(cells, limits, last), wanted, None)
    shows = _shown(cells, limits, last + 1)
    if shows <= wanted:
        return Course(last + 1, (), shows, wanted, "shows")
    if missing := _missing(cells, limits, last + 1):
        return Course(last + 1, missing, shows, wanted, None)
    return Course(last + 1, (), shows, wanted, "most" if min(limits.values()) == further.processes else "time")


def _often_crowded(cells: Collection[SoFar]) -> bool:
    return sum(len(cell.crowded) for cell in cells) > OFTEN_CROWDED * sum(len(cell.rounds) for cell in cells)


def _missing(cells: Mapping[str, SoFar], limits: Mapping[str, int], number: int) -> tuple[str, ...]:
    return tuple(name for name, cell in cells.items() if number < limits[name] and number not in cell.rounds)


def _shown(cells: Mapping[str, SoFar], limits: Mapping[str, int], number: int) -> float:
    """Return the smallest change that the rounds before `number` show of the cells that may have it, or else of all."""
    able = [cell for name, cell in cells.items() if number < limits[name]] or list(cells.values())
    return smallest_change([{at: value for at, value in cell.values.items() if at < number} for cell in able])


def _limit(cell: SoFar, fewest: int, further: Further) -> int:
    cost = median(cell.cost) if cell.cost else 0.0
    affordable = int(further.seconds / cost) if cost > 0 else further.processes
    return max(fewest, min(further.processes, affordable))
