"""Answers for people about matrices: what was planned and measured, through the reports' renderers, on stdout."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from envmgr.app.reporting import Reading, matrix_markdown, reading_of
from envmgr.app.runs import stored_run
from envmgr.app.workplace import Workplace
from envmgr.cell.judge import exit_code
from envmgr.cli.look import look
from envmgr.cli.session import Answer, say
from envmgr.model.cell import Plan
from envmgr.model.result import Run
from envmgr.report import terminal
from envmgr.report.json import run_data
from envmgr.report.look import Look
from envmgr.report.text import clean

if TYPE_CHECKING:  # showing a run needs nothing of what measures one
    from envmgr.app.fleets.fleet import FleetWishes
    from envmgr.app.matrix import CellLog, MatrixWishes


def measured(workplace: Workplace, wishes: MatrixWishes, *, resume: bool, fleet: FleetWishes | None = None) -> Run:
    """Measure a matrix, here or on a fleet; on Ctrl-C, show what there is so far before leaving."""
    from envmgr.app.fleets.fleet import run_on_fleet
    from envmgr.app.matrix import resume_matrix, run_matrix

    before = set(workplace.store.names())
    try:
        if fleet is not None:
            return run_on_fleet(workplace, wishes, fleet, "latest" if resume else None)
        return resume_matrix(workplace, "latest", wishes) if resume else run_matrix(workplace, wishes)
    except KeyboardInterrupt:
        workplace.process.stop_all()
        begun = [name for name in workplace.store.names() if resume or name not in before]
        if begun:
            run = stored_run(workplace, "latest" if resume else max(begun))
            sys.stderr.write("\n" + _matrix_text(reading_of(workplace, run), look(stream=sys.stderr)))
            sys.stderr.write("go on with: envmgr matrix run --resume\n")
        raise


def answer_of_run(workplace: Workplace, run: Run, *, wide: bool = False, markdown: bool = False) -> Answer:
    """Return a run as an answer: the table and what it means for the exit code."""
    reading = reading_of(workplace, run)
    text = _matrix_markdown if markdown else _matrix_text
    return Answer(
        lambda: run_data(run, reading.judged, reading.summaries, reading.rounds),
        lambda: print(text(reading, look(wide=wide)), end=""),
        exit_code(reading.judged),
    )


def _matrix_text(reading: Reading, how: Look) -> str:
    return terminal.matrix(reading.view, how) + "".join(
        "\n" + terminal.original(each, how) for each in reading.originals
    )


def _matrix_markdown(reading: Reading, _how: Look) -> str:
    return matrix_markdown(reading)


def show_plan(planned: Plan) -> None:
    """Print the cells of a plan."""
    print(terminal.plan(planned, look()), end="")


def show_logs(logs: Sequence[CellLog]) -> None:
    """Print logs, one after the other, as text that cannot steer the terminal."""
    for log in logs:
        say(f"== {log.cell}, process {log.round}: {log.path}")
        say(*(clean(line) for line in log.text.splitlines()))
