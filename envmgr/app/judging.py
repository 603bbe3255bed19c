"""From stored results to verdicts: parity first, then expectations."""

from __future__ import annotations

from collections.abc import Mapping

from envmgr.cell.judge import judge
from envmgr.model.result import JudgedCell, Run
from envmgr.model.summary import Summary
from envmgr.stats.parity import parities_of
from envmgr.stats.summary import summarise


def judged_cells(run: Run) -> tuple[JudgedCell, ...]:
    """Return the verdict on every planned cell of a run; nothing but the run decides it."""
    cells = run.record.plan.cells
    return judge(cells, run.settled, parities_of(cells, run.settled))


def summaries_of(judged: tuple[JudgedCell, ...]) -> Mapping[str, Summary]:
    """Return the figures of every cell, by its id."""
    return {verdict.cell.id: summarise(verdict.results) for verdict in judged}
