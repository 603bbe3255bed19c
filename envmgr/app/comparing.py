"""Two runs, or cells of one run, side by side."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from statistics import median

from envmgr.app.judging import judged_cells, summaries_of
from envmgr.app.runs import stored_run
from envmgr.app.workplace import Workplace
from envmgr.errors import NothingSelectedError, StoreError, UsageError
from envmgr.model.cell import Cell
from envmgr.model.comparison import Comparison, Comparisons, Verdict
from envmgr.model.outcome import NEUTRAL, Outcome
from envmgr.model.result import JudgedCell, Run, strangers
from envmgr.model.summary import Summary
from envmgr.report.doubts import is_unchecked
from envmgr.stats.compare import CHOSEN_ROUNDS, FALSE_ALARMS, Judgement, Measured, judge_all
from envmgr.stats.marks import crowding
from envmgr.store.query import find_cell, find_run, split_reference

_SHIFT_OF = 4
_SHIFT = 0.03


@dataclass(frozen=True, slots=True)
class CompareWishes:
    """What is to be compared: up to two runs (or `RUN#CELL`), cells by name, a baseline (a run or a cell)."""

    runs: tuple[str, ...] = ()
    cells: tuple[str, ...] = ()
    baseline: str | None = None


@dataclass(frozen=True, slots=True)
class Side:
    """One measured cell and the run that it belongs to."""

    run: Run
    judged: JudgedCell
    summary: Summary

    @property
    def cell(self) -> Cell:
        return self.judged.cell


class _Sides:
    """The cells of one run, judged and summed up once."""

    def __init__(self, run: Run) -> None:
        self.run = run
        judged = judged_cells(run)
        summaries = summaries_of(judged)
        self.all = tuple(Side(run, each, summaries[each.cell.id]) for each in judged)

    def one(self, name: str) -> Side:
        """Return the cell that a name means; raises StoreError for none or several."""
        wanted = find_cell(self.run.record.plan, name).id
        return next(side for side in self.all if side.cell.id == wanted)


def compare(workplace: Workplace, wishes: CompareWishes) -> Comparisons:
    """Return the second side against the first.

    Two runs: cell by cell. One run with a baseline cell, or with several cells: the others against the first one, round
    by round. Otherwise a run (the latest) against the one before it of the same matrix.
    """
    if any("#" in name for name in wishes.runs):
        return _single_cells(workplace, wishes)
    if wishes.baseline is not None and _is_run(workplace, wishes.baseline):
        return _two_runs(workplace, wishes.baseline, wishes.runs[-1] if wishes.runs else "latest", wishes.cells)
    if len(wishes.runs) > 1:
        return _two_runs(workplace, wishes.runs[0], wishes.runs[1], wishes.cells)
    run = _load(workplace, wishes.runs[0] if wishes.runs else "latest")
    if wishes.baseline is not None:
        return _against_baseline(_Sides(run), wishes.baseline, wishes.cells)
    if len(wishes.cells) > 1:
        return _against_baseline(_Sides(run), wishes.cells[0], wishes.cells[1:])
    earlier = _before(workplace, run)
    if not earlier:
        raise NothingSelectedError(
            f"run {run.record.id} has nothing to be compared with",
            f"there is no earlier run of the matrix {run.record.plan.matrix}",
            "name two runs, or cells of this one: envmgr matrix compare --cell A --cell B",
        )
    return _two_runs(workplace, earlier, run.record.id, wishes.cells)


def _before(workplace: Workplace, run: Run) -> str:
    """Return the latest earlier run of the same matrix on the same host, empty if there is none."""
    asked = (run.record.purpose, run.record.plan.matrix, run.record.host)
    for name in reversed(workplace.store.names()):
        if name >= run.record.id:
            continue
        with suppress(StoreError):  # a damaged run is none to compare with
            head = workplace.store.head(name)
            if (head.purpose, head.plan.matrix, head.host) == asked and not strangers(head, run.record):
                return name
    return ""


def slower_than(compared: Comparisons, limit: float) -> tuple[Comparison, ...]:
    """Return the pairs that are slower beyond doubt, and by more than the limit (0.1 is 10 %)."""
    return tuple(
        pair
        for pair in compared.pairs
        if pair.verdict is Verdict.SLOWER and pair.ratio is not None and pair.ratio > 1 + limit
    )


def _single_cells(workplace: Workplace, wishes: CompareWishes) -> Comparisons:
    references = [split_reference(name) for name in wishes.runs]
    if len(references) != 2 or not all("#" in name and split_reference(name)[1] for name in wishes.runs):  # noqa: PLR2004 - a pair
        raise UsageError(
            "cells of runs are compared in pairs",
            f"found {' '.join(wishes.runs)}",
            "envmgr matrix compare RUN#CELL RUN#CELL",
        )
    sides = [_Sides(_load(workplace, run)).one(cell) for run, cell in references]
    return _compared(wishes.runs[0], wishes.runs[1], [(sides[0], sides[1])])


def _two_runs(workplace: Workplace, first: str, second: str, cells: Sequence[str]) -> Comparisons:
    one, other = _Sides(_load(workplace, first)), _Sides(_load(workplace, second))
    if one.run.record.id == other.run.record.id:
        raise UsageError(
            f"run {one.run.record.id} would be compared with itself",
            f"found {first!r} and {second!r}",
            "envmgr matrix compare, without runs, compares the latest with the one before it",
        )
    chosen = {other.one(name).cell.id for name in cells}
    before, after = (
        _by_identity(one.all),
        _by_identity(side for side in other.all if not chosen or side.cell.id in chosen),
    )
    pairs = [(before[key], side) for key, side in after.items() if key in before]
    if not pairs:
        raise NothingSelectedError(
            f"runs {one.run.record.id} and {other.run.record.id} have no cell in common",
            f"found {len(one.all)} and {len(other.all)} cells",
            "envmgr matrix show RUN lists a run's cells",
        )
    compared = _compared(one.run.record.id, other.run.record.id, pairs)
    return compared.model_copy(
        update={
            "only_first": () if chosen else tuple(side.cell.name for key, side in before.items() if key not in after),
            "only_second": tuple(side.cell.name for key, side in after.items() if key not in before),
            "notes": (*compared.notes, *_apart(one.run, other.run, compared.pairs)),
        }
    )


def _against_baseline(sides: _Sides, baseline: str, cells: Sequence[str]) -> Comparisons:
    base = sides.one(baseline)
    if cells:
        others = [sides.one(name) for name in cells]
    else:
        others = [
            side
            for side in sides.all
            if side.cell.id != base.cell.id
            and (side.cell.runner, side.cell.parameters) == (base.cell.runner, base.cell.parameters)
            and side.judged.observed not in {None, *NEUTRAL}
        ]
    if not others:
        raise NothingSelectedError(
            f"nothing in run {sides.run.record.id} can be compared with {base.cell.name}",
            "wanted measured cells of the same runner and parameters, found none",
            "name them: envmgr matrix compare --cell A --cell B",
        )
    title = f"run {sides.run.record.id}"
    return _compared(f"{base.cell.name} of {title}", f"other cells of {title}", [(base, side) for side in others])


def _compared(first: str, second: str, pairs: Sequence[tuple[Side, Side]]) -> Comparisons:
    speaking = [place for place, (one, other) in enumerate(pairs) if not _mute(one, other)]
    judgements = judge_all([_measured(*pairs[place]) for place in speaking], _level(pairs))
    by_place = dict(zip(speaking, judgements, strict=True))
    return Comparisons(
        first=first,
        second=second,
        pairs=tuple(_comparison(one, other, by_place.get(place)) for place, (one, other) in enumerate(pairs)),
        notes=_unchecked(side for pair in pairs for side in pair),
    )


def _level(pairs: Sequence[tuple[Side, Side]]) -> float:
    """Return the level for cells of one run, if their scatter chose how many rounds there are; else the common one.

    Between runs the allowance for drift is larger than what such a choice adds.
    """
    chosen = any(one.run.record.plan.further and one.run.record.id == other.run.record.id for one, other in pairs)
    return CHOSEN_ROUNDS if chosen else FALSE_ALARMS


def _unchecked(sides: Iterable[Side]) -> tuple[str, ...]:
    """Return a note of the cells that are compared for speed though nothing tells whether their numbers are right."""
    alone = (side.cell.name for side in sides if is_unchecked(side.judged))
    names = tuple(dict.fromkeys(alone))
    return (f"their numbers were compared with nothing: {', '.join(names)}",) if names else ()


def _measured(one: Side, other: Side) -> Measured:
    paired = one.run.record.id == other.run.record.id
    crowded = 1.0 if paired else max(crowding(side.judged.results) for side in (one, other))
    return Measured(_timed(one.summary), _timed(other.summary), paired, crowded)


def _timed(summary: Summary) -> Mapping[int, float]:
    """Return the processes' values; a time too short for the clock is none."""
    return {number: value for number, value in summary.by_round.items() if value > 0}


def _mute(one: Side, other: Side) -> str:
    """Return why two cells have no speeds to compare, empty if they have."""
    for side in (one, other):
        if side.judged.observed is not Outcome.PASSED:
            state = side.judged.observed.value if side.judged.observed else "not measured"
            if state == Outcome.WRONG.value:
                state = "wrong: a wrong answer has no speed"
            return f"{side.cell.name} is {state}"
    return ""


def _comparison(one: Side, other: Side, judgement: Judgement | None) -> Comparison:
    judged = judgement or Judgement(Verdict.CANNOT_TELL, (one.summary.processes, other.summary.processes))
    return Comparison(
        name=other.cell.name,
        first=f"{one.run.record.id}#{one.cell.id}",
        second=f"{other.run.record.id}#{other.cell.id}",
        first_outcome=one.judged.outcome,
        second_outcome=other.judged.outcome,
        verdict=judged.verdict,
        ratio=judged.ratio,
        low=judged.low,
        high=judged.high,
        confidence=judged.confidence,
        p_value=judged.p_value,
        smallest_change=judged.smallest_change,
        processes=judged.processes,
        paired=one.run.record.id == other.run.record.id,
        reason=judged.reason if judgement else _mute(one, other),
        regressed=one.run.record.id != other.run.record.id and _good(one.judged) and _bad(other.judged),
        marks=tuple(dict.fromkeys(mark for side in (one, other) for mark in side.summary.marks)),
    )


def _good(judged: JudgedCell) -> bool:
    return judged.observed is Outcome.PASSED


def _bad(judged: JudgedCell) -> bool:
    return judged.observed is not None and judged.observed is not Outcome.PASSED and judged.observed not in NEUTRAL


def _apart(one: Run, other: Run, pairs: Iterable[Comparison]) -> tuple[str, ...]:
    """Return what must be known of a comparison between two runs."""
    notes = []
    if one.record.host != other.record.host:
        notes.append(f"measured on different hosts: {one.record.host} and {other.record.host}")
    elif strangers(one.record, other.record):
        notes.append(f"measured on different machines, which are both called {one.record.host}")
    ratios = [pair.ratio for pair in pairs if pair.ratio is not None]
    if len(ratios) >= _SHIFT_OF and abs(median(ratios) - 1) > _SHIFT:
        notes.append(
            f"the cells' median moved to {median(ratios):.3g} of what it was: "
            "where all move together, it may be the machine rather than the version sets"
        )
    return tuple(notes)


def _by_identity(sides: Iterable[Side]) -> dict[str, Side]:
    """Return cells by what makes them the same in another run: all but host and platform."""
    return {
        json.dumps(
            [side.cell.label, side.cell.runner, side.cell.device_name, side.cell.parameters],
            sort_keys=True,
            default=str,
        ): side
        for side in sides
    }


def _is_run(workplace: Workplace, name: str) -> bool:
    try:
        find_run(workplace.store.names(), name)
    except StoreError:
        return False
    return True


def _load(workplace: Workplace, name: str) -> Run:
    return stored_run(workplace, name)
