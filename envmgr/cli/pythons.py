"""python list, python install."""

from __future__ import annotations

from typing import Annotated

import typer

from envmgr.cli.completion import complete_pythons
from envmgr.cli.options import DebugFlag, JsonFlag, ProjectOption
from envmgr.cli.session import Answer, Options, perform, say


def register(group: typer.Typer) -> None:
    """Add the commands."""
    group.command("list")(list_pythons)
    group.command("install")(install)


def list_pythons(json: JsonFlag = False, project: ProjectOption = None, debug: DebugFlag = False) -> None:
    """List every Python of this host that can be the base of an environment, and those that cannot, with the reason."""
    from envmgr.app.hosting import facts_here
    from envmgr.app.workplace import Workplace
    from envmgr.cli.show_catalog import show_pythons

    def action(workplace: Workplace) -> Answer:
        facts = facts_here(workplace)
        data = {
            "interpreters": facts.interpreters,
            "rejected": facts.rejected_interpreters,
            "fetchable": facts.fetchable_pythons,
        }
        return Answer(data, lambda: show_pythons(facts))

    perform(Options("python list", json, project, debug), action)


def install(
    version: Annotated[
        str,
        typer.Argument(metavar="V", help="A version (3.8, 3.8.20) or a uv request.", autocompletion=complete_pythons),
    ],
    json: JsonFlag = False,
    project: ProjectOption = None,
    debug: DebugFlag = False,
) -> None:
    """Fetch a Python through uv."""
    from envmgr.app.hosting import fetch_python
    from envmgr.app.workplace import Workplace

    def action(workplace: Workplace) -> Answer:
        found = fetch_python(workplace, version, downloads=True)
        return Answer({"interpreter": found}, lambda: say(f"Python {found.version} {found.arch}  {found.executable}"))

    perform(Options("python install", json, project, debug), action)
