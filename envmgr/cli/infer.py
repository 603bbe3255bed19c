"""infer: an environment in which an old script works."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from envmgr.cli.completion import complete_pythons
from envmgr.cli.options import DebugFlag, JsonFlag, ProjectOption, day, seconds_of
from envmgr.cli.session import Answer, Options, perform

Scripts = Annotated[list[Path], typer.Argument(metavar="SCRIPT...", help="Scripts, notebooks, or folders of them.")]
Date = Annotated[str | None, typer.Option("--date", metavar="DATE", help="The day on which it worked: 2019-07-01.")]
Python = Annotated[
    str | None,
    typer.Option("--python", metavar="VERSION", help="On this Python alone.", autocompletion=complete_pythons),
]
ManifestName = Annotated[
    str | None, typer.Option("--name", metavar="NAME", help="The manifest's name (else: the script's).")
]
Budget = Annotated[str, typer.Option("--budget", metavar="SECONDS", help="Time for experiments, as 300s or 5m.")]
Run = Annotated[
    bool,
    typer.Option("--run", help="Run the script at the end: in a copy of its folder, without a network if possible."),
]
Seconds = Annotated[str, typer.Option("--time-limit", metavar="SECONDS", help="How long --run may take.")]


def register(application: typer.Typer) -> None:
    """Add the command."""
    application.command()(infer)


def infer(
    scripts: Scripts,
    date: Date = None,
    python: Python = None,
    name: ManifestName = None,
    budget: Budget = "300s",
    run: Run = False,
    time_limit: Seconds = "60s",
    json: JsonFlag = False,
    project: ProjectOption = None,
    debug: DebugFlag = False,
) -> None:
    """Find an environment in which old scripts can import and name all that they use, and write its manifest.

    Nothing of them is run without --run. Writes manifests/NAME.toml, a lock for this platform alone, and the proof.
    Exit code 0: all is there; 1: the nearest was written, names are still missing in it; 3: Python 2, or nothing found.
    """
    from envmgr.app.inferring.infer import Asked
    from envmgr.app.inferring.infer import infer as inferred
    from envmgr.app.inferring.writing import demand_new, name_for, write
    from envmgr.app.workplace import Workplace

    def action(workplace: Workplace) -> Answer:
        from envmgr.report.inference import show

        paths = tuple(workplace.caller.folder / path for path in scripts)
        seconds, limit = seconds_of("--budget", budget), seconds_of("--time-limit", time_limit)
        asked = Asked(paths, day("--date", date), python or "", seconds, run, limit)
        place = demand_new(workplace, name_for(paths[0], name))
        found = inferred(workplace, asked)
        if found.requirements:
            found = write(workplace, place, found, paths)
        return Answer({"infer": found.model_dump(mode="json")}, lambda: show(found), 0 if found.proof.passed else 1)

    perform(Options("infer", json, project, debug), action)
