"""What of a run is left to measure: the processes that every cell gets, then further rounds where values scatter."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from envmgr.app.judging import judged_cells
from envmgr.model.cell import Cell, Further, Plan
from envmgr.model.outcome import Outcome
from envmgr.model.result import CellResult, Run
from envmgr.model.rounds import RoundsTaken
from envmgr.ports import Event, Listener
from envmgr.stats.enough import Course, SoFar, course
from envmgr.stats.marks import crowding
from envmgr.stats.summary import process_medians
from envmgr.store.query import left

Job = tuple[Cell, int]


class Rounds:
    """The rounds of one run as results come in; what it says follows from the run alone, so that it can be resumed.

    The cells of one runner on one host are what is compared, so they go on together: those that passed in all their
    first processes, and have a time for each.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._results = list(run.results)
        self._fit: dict[tuple[str, str], tuple[Cell, ...]] = {}

    def add(self, result: CellResult) -> None:
        """Take note of one more result."""
        self._results.append(result)

    def left(self) -> tuple[Job, ...]:
        """Return what is to be measured next: all of the first processes that are left, and one further round."""
        run = self._run.model_copy(update={"results": tuple(self._results)})
        cells = {cell.id: cell for cell in run.record.plan.cells}
        further = [(cells[name], each.number) for _, _, each in self._courses() for name in each.missing]
        return (*left(run), *further)

    def taken(self) -> tuple[RoundsTaken, ...]:
        """Return how the cells of each runner stand that have had their first processes and may have more."""
        return tuple(
            RoundsTaken(
                runner=cells[0].runner,
                host=host,
                cells=tuple(cell.id for cell in cells),
                processes=each.number,
                shows=each.shows,
                wanted=each.wanted,
                ended=each.ended,
            )
            for host, cells, each in self._courses()
        )

    def _courses(self) -> Iterable[tuple[str, tuple[Cell, ...], Course]]:
        plan = self._run.record.plan
        if plan.further is None:
            return
        results: dict[str, list[CellResult]] = {}
        for result in self._results:
            results.setdefault(result.cell, []).append(result)
        groups: dict[tuple[str, str], list[Cell]] = {}
        for cell in plan.cells:
            if cell.refusal is None:
                host = next((result.host for result in results.get(cell.id, ()) if result.host), cell.host)
                groups.setdefault((host, cell.runner), []).append(cell)
        for key, cells in groups.items():
            fit = self._those_fit(key, cells, results)
            if fit:
                so_far = {cell.id: _so_far(results[cell.id], plan.processes) for cell in fit}
                yield key[0], fit, course(so_far, plan.processes, plan.further)

    def _those_fit(
        self, key: tuple[str, str], cells: Sequence[Cell], results: Mapping[str, Sequence[CellResult]]
    ) -> tuple[Cell, ...]:
        """Return the cells of a group that may go on, none before all have had their first processes."""
        if key not in self._fit:
            fewest = self._run.record.plan.processes
            first = [each for found in results.values() for each in found if each.round < fewest]
            had = {(each.cell, each.round) for each in first}
            if any((cell.id, number) not in had for cell in cells for number in range(fewest)):
                return ()
            judged = judged_cells(self._run.model_copy(update={"results": tuple(first)}))
            passed = {each.cell.id for each in judged if each.observed is Outcome.PASSED}
            self._fit[key] = tuple(
                cell for cell in cells if cell.id in passed and _times(results[cell.id], fewest) == fewest
            )
        return self._fit[key]


def _times(results: Iterable[CellResult], fewest: int) -> int:
    """Return how many of the first processes came to a time that the clock could tell."""
    values = process_medians(result for result in results if result.round < fewest)
    return sum(value > 0 for value in values.values())


def _so_far(results: Sequence[CellResult], fewest: int) -> SoFar:
    return SoFar(
        values={number: value for number, value in process_medians(results).items() if value > 0},
        rounds=frozenset(result.round for result in results),
        cost=tuple(result.elapsed for result in results if result.round < fewest),
        crowded=frozenset(result.round for result in results if crowding([result]) > 1),
    )


def tell_plan(listener: Listener, run: Run) -> None:
    """Tell of what is planned for sure, and how much of it is there."""
    plan = run.record.plan
    listener.on_plan(plan, sum(result.round < plan.processes for result in run.results))


def tell_further(listener: Listener, plan: Plan, rounds: Rounds, jobs: Sequence[Job]) -> None:
    """Tell how many processes of further rounds follow, and why."""
    more = sum(number >= plan.processes for _, number in jobs)
    if more and plan.further:
        listener.on_further(more)
        for each in rounds.taken():
            if each.ended is None:
                listener.on_event(Event("going on", name_of(each, plan), told(each, plan.further)))


def tell_taken(listener: Listener, plan: Plan, rounds: Rounds) -> None:
    """Tell how many processes the cells of each runner have had, and why no more."""
    for each in rounds.taken():
        if plan.further:
            listener.on_event(Event("done", name_of(each, plan), told(each, plan.further)))


def name_of(taken: RoundsTaken, plan: Plan) -> str:
    """Return what the rounds were of, in words."""
    return taken.runner if taken.host in {"", plan.host} else f"{taken.runner} on {taken.host}"


def told(taken: RoundsTaken, further: Further) -> str:
    """Return in words how the cells of a runner stand."""
    processes = f"{taken.processes} processes a cell"
    if not math.isfinite(taken.shows):
        return f"{processes}: values scatter too much to tell any change"
    shown = f"a change of {100 * taken.shows:.2g} % shows"
    wanted = f"{100 * taken.wanted:.2g} %"
    if taken.ended is None:
        return f"one more, as after {processes} only {shown}, wanted {wanted}"
    if taken.ended == "shows":
        return f"{processes}: {shown}"
    most = f"{further.processes} processes" if taken.ended == "most" else f"{further.seconds:.0f} s a cell"
    return f"{processes} ({most} at most): {shown}, wanted {wanted}"
