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


def init(
    source: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="FILE",
            help="Make manifests of requirements.txt, a freeze, pyproject.toml, pylock.toml, Pipfile, Pipfile.lock, "
            "setup.cfg, setup.py (read, never run), environment.yml, tox.ini, tox.toml, noxfile.py, asv.conf.json or a "
            "script of PEP 723.",
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="How the manifest of --from is called.")
    ] = None,
    wanted: Annotated[
        list[str] | None,
        typer.Option("--with", metavar="GROUP", help="An extra or a group of pyproject.toml to take over, too."),
    ] = None,
    json: JsonFlag = False,
    project: ProjectOption = None,
    debug: DebugFlag = False,
) -> None:
    """Start a project here: a first manifest, a first matrix, a folder for runners. With --from, add manifests."""
    from envmgr.app.initiating import start_project
    from envmgr.app.workplace import Workplace
    from envmgr.errors import UsageError

    def action(workplace: Workplace) -> Answer:
        folder = (project or workplace.caller.folder).resolve()
        notes: tuple[str, ...] = ()
        if source is None and (name or wanted):
            given = "--name" if name else "--with"
            raise UsageError(f"{given} is for --from", "wanted a file with it; found none", "envmgr init --from FILE")
        if source is None:
            written, then = start_project(folder, workplace.files), "envmgr matrix run"
        else:
            from envmgr.app.adopting import adopt_file

            place = workplace.caller.folder / source
            written, notes = adopt_file(folder, place, name, workplace.files, wanted=tuple(wanted or ()))
            then = f"envmgr build {written[0].stem}"
        return Answer(
            {"written": written, "notes": notes},
            lambda: say(
                *(f"written  {file}" for file in written), *(f"note     {note}" for note in notes), f"next     {then}"
            ),
        )

    perform(Options("init", json, None, debug), action)


def list_manifests(json: JsonFlag = False, project: ProjectOption = None, debug: DebugFlag = False) -> None:
    """List the manifests with their variants, and which are locked and built here."""
    from envmgr.app.catalog import catalogue
    from envmgr.app.workplace import Workplace
    from envmgr.cli.show_catalog import show_catalogue

    def action(workplace: Workplace) -> Answer:
        entries, broken = catalogue(workplace)
        data = {"manifests": entries, "broken": [{"what": error.what, "why": error.why} for error in broken]}
        return Answer(data, lambda: show_catalogue(entries, broken))

    perform(Options("list", json, project, debug), action)


def show(name: Name, json: JsonFlag = False, project: ProjectOption = None, debug: DebugFlag = False) -> None:
    """Show a manifest: what it asks for, what its locks hold, what is installed."""
    from envmgr.app.catalog import details
    from envmgr.app.workplace import Workplace
    from envmgr.cli.show_catalog import show_details

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
    from envmgr.cli.show_catalog import show_examination

    def action(workplace: Workplace) -> Answer:
        found = examine(workplace, host)
        return Answer(found, lambda: show_examination(found))

    perform(Options("doctor", json, project, debug), action)
