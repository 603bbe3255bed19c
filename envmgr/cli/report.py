"""matrix report, matrix import."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from envmgr.cli.completion import complete_runs
from envmgr.cli.options import DebugFlag, JsonFlag, ProjectOption
from envmgr.cli.session import Answer, Options, leaving_cycles, perform, say


def register(group: typer.Typer) -> None:
    """Add the commands."""
    group.command()(report)
    group.command("import")(import_runs)


def report(
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RUN",
            help="Runs by (the beginning of) their ids; several are one matrix.",
            autocompletion=complete_runs,
        ),
    ] = None,
    html: Annotated[Path | None, typer.Option(metavar="OUT", help="One self-contained page; `-` is stdout.")] = None,
    markdown: Annotated[Path | None, typer.Option(metavar="OUT", help="For an issue or a pull request.")] = None,
    csv: Annotated[Path | None, typer.Option(metavar="OUT", help="A line a cell.")] = None,
    junit: Annotated[Path | None, typer.Option(metavar="OUT", help="JUnit XML, for continuous integration.")] = None,
    pyperf: Annotated[Path | None, typer.Option(metavar="OUT", help="The samples as pyperf reads them.")] = None,
    json: JsonFlag = False,
    project: ProjectOption = None,
    debug: DebugFlag = False,
) -> None:
    """Write a run (the latest of every host, or those named) as HTML, Markdown, CSV, JUnit XML, pyperf's JSON."""
    from envmgr.app.merging import runs_of
    from envmgr.app.reporting import REPORTS, reading_of
    from envmgr.app.workplace import Workplace
    from envmgr.errors import UsageError
    from envmgr.report.json import run_data

    asked = {"html": html, "markdown": markdown, "csv": csv, "junit": junit, "pyperf": pyperf}
    wanted = {form: path for form, path in asked.items() if path is not None}

    def action(workplace: Workplace) -> Answer:
        if not wanted and not json:
            raise UsageError(
                "no form of report is asked for", f"wanted one of {', '.join(asked)}", "envmgr matrix report --html OUT"
            )
        printed = [form for form, path in wanted.items() if str(path) == "-"]
        if json and printed:
            raise UsageError(
                "a report and --json would both be written to stdout",
                f"wanted one of them there; found --{printed[0]} -",
                f"envmgr matrix report --{printed[0]} OUT --json",
            )
        found = reading_of(workplace, runs_of(workplace, tuple(runs or ())))
        written = [_write(workplace, REPORTS[form](workplace, found), form, path) for form, path in wanted.items()]
        return Answer(
            lambda: {
                **run_data(found.run, found.judged, found.summaries, found.rounds),
                "written": [str(path) for path in wanted.values()],
            },
            lambda: say(*filter(None, written)),
        )

    with leaving_cycles():
        perform(Options("matrix report", json, project, debug), action)


def _write(workplace: Any, text: str, form: str, path: Path) -> str:
    if str(path) == "-":
        sys.stdout.write(text)
        return ""
    workplace.files.write(path if path.is_absolute() else workplace.caller.folder / path, text)
    return f"{form}: {path} ({len(text.encode()) / 1024:.0f} KiB)"


def import_runs(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A run, a folder of runs, or another project.")],
    json: JsonFlag = False,
    project: ProjectOption = None,
    debug: DebugFlag = False,
) -> None:
    """Take runs from elsewhere (another machine) into this project's results. Exit 1 when one is left out."""
    from envmgr.app.importing import import_runs as imported_from
    from envmgr.app.workplace import Workplace

    def action(workplace: Workplace) -> Answer:
        found = imported_from(workplace, folder)

        def show() -> None:
            for each in found:
                state = f"left out: {each.problem}" if each.problem else f"{each.added} new files, {each.cells} cells"
                say(
                    f"{each.run} ({each.host or 'host unknown'}): {state}",
                    *(f"  damaged: {text}" for text in each.damaged),
                )

        return Answer({"runs": found}, show, int(any(each.problem for each in found)))

    perform(Options("matrix import", json, project, debug), action)
