"""What has been measured, read once for every kind of report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from envmgr.app.finding_cells import with_findings
from envmgr.app.judging import judged_cells, summaries_of
from envmgr.app.rounds import Rounds, name_of, told
from envmgr.app.runners import runner_facts
from envmgr.app.workplace import Workplace
from envmgr.errors import StoreError
from envmgr.model.comparison import Verdict
from envmgr.model.history import Point
from envmgr.model.outcome import Outcome
from envmgr.model.result import CellResult, JudgedCell, Run, strangers
from envmgr.model.rounds import RoundsTaken
from envmgr.model.summary import Summary
from envmgr.report import markdown
from envmgr.report.original import OriginalTable, original_tables
from envmgr.report.summary import MatrixView, matrix_view
from envmgr.stats.compare import Measured, judge_all
from envmgr.stats.marks import crowding

_LOG_LINES = 40
_LOGS_OF_ALL = 300
_RUNS_BACK = 20
_RESULTS_READ = 20_000


class Reading:
    """A run, judged and summed up once, however many reports are made of it."""

    def __init__(self, run: Run, defaults: Mapping[str, Mapping[str, Any]]) -> None:
        self.run = run
        self._defaults = defaults

    @cached_property
    def judged(self) -> tuple[JudgedCell, ...]:
        """The verdict on every cell, with a finding on each that did not pass."""
        return with_findings(self.run, judged_cells(self.run))

    @cached_property
    def summaries(self) -> Mapping[str, Summary]:
        """The figures of every cell, by its id."""
        return summaries_of(self.judged)

    @cached_property
    def view(self) -> MatrixView:
        """The run as tables show it."""
        view = matrix_view(self.run, self.judged, self.summaries, self._defaults)
        plan = self.run.record.plan
        lines = [f"{name_of(each, plan)}: {told(each, plan.further)}" for each in self.rounds if plan.further]
        return view.model_copy(update={"rounds": tuple(lines)})

    @cached_property
    def rounds(self) -> tuple[RoundsTaken, ...]:
        """How many processes cells have had beyond their first ones, and why."""
        return Rounds(self.run).taken()

    @property
    def originals(self) -> tuple[OriginalTable, ...]:
        """The tables of the two original measurements, where the matrix repeats them."""
        return original_tables(self.judged, self.summaries) if self.run.record.plan.matrix in _ORIGINALS else ()


_ORIGINALS = frozenset({"vgg19", "mnist"})
"""The matrices that repeat the two measurements which the project comes from, and are printed as those were."""


def reading_of(workplace: Workplace, run: Run) -> Reading:
    """Return the reading of a run; parameters that are a runner's defaults need not be shown."""
    return Reading(run, {name: facts.defaults for name, facts in runner_facts(workplace).items()})


def log_ends(workplace: Workplace, reading: Reading) -> dict[str, str]:
    """Return the end of the log of each cell's last process: of all cells in a small run, else of those that failed."""
    ends = {}
    every = len(reading.judged) <= _LOGS_OF_ALL
    for judged in reading.judged:
        if not judged.results or not (every or judged.observed is not Outcome.PASSED):
            continue
        last = judged.results[-1]
        path = workplace.store.log_path(_origin(reading.run, judged), _stored_id(last), last.round)
        lines = (workplace.files.read(path) or "").splitlines()[-_LOG_LINES:]
        if lines:
            ends[judged.cell.id] = "\n".join(lines)
    return ends


def _stored_id(result: CellResult) -> str:
    """Return under which cell a result was stored: of machines of one name, put together, cells have other ids."""
    return PurePosixPath(result.log).stem.rpartition("-")[0] or result.cell


def _origin(run: Run, judged: JudgedCell) -> str:
    return run.origins.get(judged.cell.id, run.record.id)


def _html(workplace: Workplace, reading: Reading) -> str:
    from envmgr.report.page.model import Story, page_of
    from envmgr.report.page.render import html

    logs, history = log_ends(workplace, reading), history_of(workplace, reading)
    return html(page_of(Story(reading.run, reading.judged, reading.view, logs, history, reading.originals)))


def matrix_markdown(reading: Reading) -> str:
    """Return a run as Markdown, for an issue or a pull request."""
    return markdown.matrix(reading.view) + "".join("\n" + markdown.original(table) for table in reading.originals)


def _csv(_workplace: Workplace, reading: Reading) -> str:
    from envmgr.report import table_csv

    return table_csv.text(reading.view, {each.cell.id: each for each in reading.judged})


def _junit(workplace: Workplace, reading: Reading) -> str:
    from envmgr.report import junit

    return junit.junit(reading.run, reading.judged, log_ends(workplace, reading))


def _pyperf(_workplace: Workplace, reading: Reading) -> str:
    from envmgr.report import pyperf_json

    return pyperf_json.pyperf(reading.run, reading.judged)


REPORTS: Mapping[str, Callable[[Workplace, Reading], str]] = {
    "html": _html,
    "markdown": lambda _, reading: matrix_markdown(reading),
    "csv": _csv,
    "junit": _junit,
    "pyperf": _pyperf,
}
"""Every form of report that goes to a file, and what makes its text."""


@dataclass(frozen=True, slots=True)
class _Past:
    """One earlier run, in short: the figures of its cells by id."""

    run: Run
    judged: Mapping[str, JudgedCell]
    summaries: Mapping[str, Summary]


class _Timed(NamedTuple):
    """A cell's seconds by round, and by which factor other programs could have slowed it down."""

    values: Mapping[int, float]
    crowded: float


def history_of(workplace: Workplace, reading: Reading) -> dict[str, tuple[Point, ...]]:
    """Return each cell's figures in this run and the earlier ones of its matrix, the oldest first.

    Changes are judged from run to run, all cells of a pair of runs at once.
    """
    series = [_past(run) for run in _earlier(workplace, reading.run)]
    series.append(_Past(reading.run, {each.cell.id: each for each in reading.judged}, reading.summaries))
    points: dict[str, list[Point]] = {each.cell.id: [] for each in reading.judged}
    last: dict[str, _Timed] = {}
    for past in series:
        current = {
            ident: _Timed(past.summaries[ident].by_round, crowding(past.judged[ident].results))
            for ident in points
            if ident in past.judged and past.judged[ident].observed is Outcome.PASSED
        }
        changes = _changes(last, current)
        for ident, judged in past.judged.items():
            if ident in points and judged.observed is not None:
                change, factor = changes.get(ident, (None, None))
                points[ident].append(_point(past, judged, change, factor))
        last |= {ident: timed for ident, timed in current.items() if timed.values}
    return {ident: tuple(listed) for ident, listed in points.items() if len(listed) > 1}


def _changes(before: Mapping[str, _Timed], after: Mapping[str, _Timed]) -> dict[str, tuple[Verdict, float | None]]:
    both = {ident: (before[ident], timed) for ident, timed in after.items() if ident in before}
    shared = {
        ident: (one, other)
        for ident, (one, other) in both.items()
        if all((*one.values.values(), *other.values.values()))
    }
    judgements = judge_all(
        [
            Measured(one.values, other.values, paired=False, crowded=max(one.crowded, other.crowded))
            for one, other in shared.values()
        ]
    )
    return {ident: (found.verdict, found.ratio) for ident, found in zip(shared, judgements, strict=True)}


def _point(past: _Past, judged: JudgedCell, change: Verdict | None, factor: float | None) -> Point:
    summary = past.summaries[judged.cell.id]
    return Point(
        run=past.run.record.id,
        started_at=past.run.record.started_at,
        outcome=judged.outcome,
        median=summary.median,
        interval=summary.interval,
        change=change,
        ratio=factor,
    )


def _past(run: Run) -> _Past:
    judged = judged_cells(run)
    return _Past(run, {each.cell.id: each for each in judged}, summaries_of(judged))


def _earlier(workplace: Workplace, run: Run) -> Sequence[Run]:
    """Return the latest earlier runs that share cells with this one, the oldest first."""
    ours = {cell.id for cell in run.record.plan.cells}
    found: list[Run] = []
    read = len(run.results)
    for name in _names_before(workplace.store.names(), run.record.id):
        if len(found) >= _RUNS_BACK or read >= _RESULTS_READ:
            break
        with suppress(StoreError):  # a damaged run has no part in the history
            head = workplace.store.head(name)
            if ours & {cell.id for cell in head.plan.cells} and not strangers(head, run.record):
                found.append(workplace.store.load(name))
                read += len(found[-1].results)
    return found[::-1]


def _names_before(names: Iterable[str], name: str) -> list[str]:
    return sorted((each for each in names if each < name), reverse=True)
