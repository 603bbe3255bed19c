"""diff: what differs between two environments, locks, runs or hosts."""

from __future__ import annotations

from typing import Annotated

import typer

from envmgr.cli.completion import complete_names_and_runs
from envmgr.cli.options import DebugFlag, JsonFlag, ProjectOption
from envmgr.cli.session import Answer, Options, perform

_SIDES = "a manifest, a folder with a Python, a lock, freeze or facts file, a run, RUN#CELL, or `here`"


def register(application: typer.Typer) -> None:
    """Add the command."""
    application.command()(diff)


def diff(
    first: Annotated[
        str, typer.Argument(metavar="A", help=f"One side: {_SIDES}.", autocompletion=complete_names_and_runs)
    ],
    second: Annotated[str, typer.Argument(metavar="B", help="The other side.", autocompletion=complete_names_and_runs)],
    json: JsonFlag = False,
    project: ProjectOption = None,
    debug: DebugFlag = False,
) -> None:
    """Tell what differs between two environments, locks, runs or hosts, what can matter first. Exit 1 if anything does.

    Nothing is built, resolved or changed.
    """
    from envmgr.app.differing.diff import diff as differences
    from envmgr.app.workplace import Workplace

    def action(workplace: Workplace) -> Answer:
        from envmgr.cli.look import look
        from envmgr.report.difference import text

        found = differences(workplace, first, second)
        return Answer(
            {"diff": found}, lambda: print(text(found, look()), end=""), exit_code=1 if found.differences else 0
        )

    perform(Options("diff", json, project, debug), action)
