"""Answers for people about matrices: what was planned and measured, through the reports' renderers, on stdout."""

from __future__ import annotations

from envmgr.app.reporting import Reading, matrix_markdown, reading_of
from envmgr.app.workplace import Workplace
from envmgr.cell.judge import exit_code
from envmgr.cli.look import look
from envmgr.cli.session import Answer
from envmgr.model.cell import Plan
from envmgr.model.result import Run
from envmgr.report import terminal
from envmgr.report.json import run_data
from envmgr.report.look import Look


def answer_of_run(workplace: Workplace, run: Run, *, wide: bool = False, markdown: bool = False) -> Answer:
    """Return a run as an answer: the table and what it means for the exit code."""
    reading = reading_of(workplace, run)
    text = _matrix_markdown if markdown else matrix_text
    return Answer(
        lambda: run_data(run, reading.judged, reading.summaries, reading.rounds),
        lambda: print(text(reading, look(wide=wide)), end=""),
        exit_code(reading.judged),
    )


def matrix_text(reading: Reading, how: Look) -> str:
    return terminal.matrix(reading.view, how) + "".join(
        "\n" + terminal.original(each, how) for each in reading.originals
    )


def _matrix_markdown(reading: Reading, _how: Look) -> str:
    return matrix_markdown(reading)


def show_plan(planned: Plan) -> None:
    """Print the cells of a plan."""
    print(terminal.plan(planned, look()), end="")
