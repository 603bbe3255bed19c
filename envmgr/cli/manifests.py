"""init, list, show, path, doctor: what there is, and what this host can have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from envmgr.cli.options import DebugFlag, JsonFlag, Name, ProjectOption
from envmgr.cli.session import Answer, Options, perform, say


def register(application: typer.Typer) -> None:
    """Add the commands."""
    for command in (init, show, path, doctor):
        application.command()(command)
    application.command("list")(list_manifests)


def init(json: JsonFlag = False, project: ProjectOption = None, debug: DebugFlag = False) -> None:
    """Start a project here: a first manifest, a first matrix, a folder for runners."""
    from envmgr.app.initiating import start_project
    from envmgr.app.workplace import Workplace

    def action(workplace: Workplace) -> Answer:
        made = start_project((project or workplace.caller.folder).resolve(), workplace.files)
        return Answer(
            {"written": made}, lambda: say(*(f"written  {file}" for file in made), "next     envmgr matrix run")
        )

    perform(Options("init", json, None, debug), action)


def list_manifests(json: JsonFlag = False, project: ProjectOption = None, debug: DebugFlag = False) -> None:
    """List the manifests with their variants, and which are locked and built here."""
    from envmgr.app.catalog import catalogue
    from envmgr.app.workplace import Workplace
    from envmgr.cli.show import show_catalogue

    def action(workplace: Workplace) -> Answer:
        entries, broken = catalogue(workplace)
        data = {"manifests": entries, "broken": [{"what": error.what, "why": error.why} for error in broken]}
        return Answer(data, lambda: show_catalogue(entries, broken))

    perform(Options("list", json, project, debug), action)


def show(name: Name, json: JsonFlag = False, project: ProjectOption = None, debug: DebugFlag = False) -> None:
    """Show a manifest: what it asks for, what its locks hold, what is installed."""
    from envmgr.app.catalog import details
    from envmgr.app.workplace import Workplace
    from envmgr.cli.show import show_details

    def action(workplace: Workplace) -> Answer:
        found = details(workplace, name)
        return Answer(found, lambda: show_details(found))

    perform(Options("show", json, project, debug), action)


def path(name: Name, json: JsonFlag = False, project: ProjectOption = None, debug: DebugFlag = False) -> None:
    """Print the folder of a built environment; exit 3 if it is not built."""
    from envmgr.app.catalog import folder_of
    from envmgr.app.workplace import Workplace

    def action(workplace: Workplace) -> Answer:
        folder = folder_of(workplace, name)
        return Answer({"path": folder}, lambda: say(str(folder)))

    perform(Options("path", json, project, debug), action)


def doctor(
    host: Annotated[
        Path | None, typer.Option("--host", metavar="FACTS.json", help="Look at another host, from its facts.")
    ] = None,
    json: JsonFlag = False,
    project: ProjectOption = None,
    debug: DebugFlag = False,
) -> None:
    """Show this machine (or another, from a file), and for each manifest whether it can be had here and why not."""
    from envmgr.app.doctoring import examine
    from envmgr.app.workplace import Workplace
    from envmgr.cli.show import show_examination

    def action(workplace: Workplace) -> Answer:
        found = examine(workplace, host)
        return Answer(found, lambda: show_examination(found))

    perform(Options("doctor", json, project, debug), action)
