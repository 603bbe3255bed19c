"""matrix plan, run, show, logs."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import typer

from envmgr.cli.completion import complete_cells, complete_matrices, complete_runs
from envmgr.cli.options import (
    DebugFlag,
    DeviceNames,
    EnvNames,
    JsonFlag,
    NoDownloads,
    Offline,
    ProjectOption,
    PythonOption,
    seconds_of,
)
from envmgr.cli.session import Answer, Options, leaving_cycles, perform, say
from envmgr.errors import UsageError

MatrixName = Annotated[
    str, typer.Argument(metavar="MATRIX", help="The matrix to measure.", autocompletion=complete_matrices)
]
Effort = Annotated[
    Literal["quick", "default", "long"] | None,
    typer.Option("--effort", help="How many processes a cell gets: 1, 10 to 30, 20 to 60 (else: as the matrix says)."),
]
Wide = Annotated[bool, typer.Option("--wide", help="Show every column, whatever the terminal's width.")]
RunNames = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="RUN",
        autocompletion=complete_runs,
        help="Runs by (the beginning of) their ids; several are shown as one matrix.",
    ),
]


def register(group: typer.Typer) -> None:
    """Add the commands."""
    for command in (plan, run, show, logs):
        group.command()(command)


def plan(
    matrix: MatrixName = "quick",
    env: EnvNames = None,
    device: DeviceNames = None,
    host: Annotated[
        Path | None, typer.Option("--host", metavar="FACTS.json", help="Plan for another host, from its facts.")
    ] = None,
    effort: Effort = None,
    form: Annotated[
        Literal["table", "gha"],
        typer.Option("--format", help="gha: the value of strategy.matrix for GitHub Actions, a job for each platform."),
    ] = "table",
    python: PythonOption = None,
    json: JsonFlag = False,
    project: ProjectOption = None,
    debug: DebugFlag = False,
) -> None:
    """Show which cells would be measured, and why the others cannot be; nothing is built or run."""
    from envmgr.app.continuous import jobs_of
    from envmgr.app.planning import Selection, plan_only
    from envmgr.app.workplace import Workplace
    from envmgr.cli.show import show_plan
    from envmgr.report.json import plan_data

    def action(workplace: Workplace) -> Answer:
        selection = Selection(matrix, tuple(env or ()), tuple(device or ()), effort)
        if form == "gha":
            if json:
                raise UsageError("--format gha and --json exclude each other", "both decide what is printed", "")
            text = jobs_of(workplace, selection)
            return Answer(None, lambda: say(text))
        planned = plan_only(workplace, selection, host, python)
        return Answer(
            {"plan": planned.model_dump(exclude={"cells"}), "cells": plan_data(planned.cells)},
            lambda: show_plan(planned),
        )

    perform(Options("matrix plan", json, project, debug), action)


def run(
    matrix: MatrixName = "quick",
    env: EnvNames = None,
    device: DeviceNames = None,
    jobs: Annotated[
        int,
        typer.Option("--jobs", "-j", metavar="N", min=1, help="Cells measured at a time; more than 1 disturbs times."),
    ] = 1,
    effort: Effort = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the latest run where it stopped.")] = False,
    failed: Annotated[bool, typer.Option("--failed", help="Measure again what failed in the latest run.")] = False,
    offline: Offline = False,
    python: PythonOption = None,
    no_python_downloads: NoDownloads = False,
    fleet: Annotated[
        str | None, typer.Option("--fleet", metavar="ADDRESS", help="On the hosts of this fleet: tcp://127.0.0.1:8786.")
    ] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Even where the fleet has no TLS and is not on this machine.")
    ] = False,
    ci: Annotated[
        bool, typer.Option("--ci", help="Annotations and a summary for GitHub Actions, and envmgr-junit.xml here.")
    ] = False,
    diagnose: Annotated[
        bool, typer.Option("--diagnose", help="Prove afterwards by experiment what made cells fail.")
    ] = False,
    budget: Annotated[
        str, typer.Option("--budget", metavar="SECONDS", help="Time for all experiments of --diagnose, as 600s or 10m.")
    ] = "600s",
    wide: Wide = False,
    json: JsonFlag = False,
    project: ProjectOption = None,
    debug: DebugFlag = False,
) -> None:
    """Build what is missing, measure every cell, show the table. Exit 1 when a cell fails unexpectedly."""
    from envmgr.app.building import BuildWishes
    from envmgr.app.continuous import tell_service
    from envmgr.app.diagnosing.runs import prove_run
    from envmgr.app.fleets.fleet import FleetWishes
    from envmgr.app.matrix import MatrixWishes
    from envmgr.app.planning import Selection
    from envmgr.app.reporting import reading_of
    from envmgr.app.workplace import Workplace
    from envmgr.cli.measuring import measured
    from envmgr.cli.show import answer_of_run

    def action(workplace: Workplace) -> Answer:
        wishes = MatrixWishes(
            selection=Selection(matrix, tuple(env or ()), tuple(device or ()), effort),
            build=BuildWishes(python, offline, not no_python_downloads),
            jobs=jobs,
            only_failed=failed,
            command=tuple(sys.argv[1:]),
        )
        on = FleetWishes(fleet, insecure) if fleet else None
        seconds = seconds_of("--budget", budget)
        done = measured(workplace, wishes, resume=resume, fleet=on)
        if diagnose and done.finished:
            done = prove_run(workplace, done, seconds)
        if ci:
            print("\n".join(tell_service(workplace, reading_of(workplace, done))), file=sys.stderr)
        answer = answer_of_run(workplace, done, wide=wide)
        return answer if done.finished else replace(answer, exit_code=max(1, answer.exit_code))

    perform(Options("matrix run", json, project, debug), action)


def show(
    runs: RunNames = None,
    wide: Wide = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="As Markdown, for an issue or a pull request.")] = False,
    json: JsonFlag = False,
    project: ProjectOption = None,
    debug: DebugFlag = False,
) -> None:
    """Show a run's table again (by default the latest of every host). Exit 1 when a cell failed unexpectedly."""
    from envmgr.app.merging import runs_of
    from envmgr.app.workplace import Workplace
    from envmgr.cli.show import answer_of_run

    def action(workplace: Workplace) -> Answer:
        return answer_of_run(workplace, runs_of(workplace, tuple(runs or ())), wide=wide, markdown=markdown)

    with leaving_cycles():
        perform(Options("matrix show", json, project, debug), action)


def logs(
    cell: Annotated[
        str,
        typer.Argument(
            metavar="CELL", help="A cell by id or name; RUN#CELL for an earlier run.", autocompletion=complete_cells
        ),
    ],
    json: JsonFlag = False,
    project: ProjectOption = None,
    debug: DebugFlag = False,
) -> None:
    """Print what a cell's processes wrote to stdout and stderr."""
    from envmgr.app.matrix import logs_of
    from envmgr.app.workplace import Workplace
    from envmgr.cli.measuring import show_logs

    def action(workplace: Workplace) -> Answer:
        found = logs_of(workplace, cell)
        return Answer({"logs": found}, lambda: show_logs(found))

    perform(Options("matrix logs", json, project, debug), action)
