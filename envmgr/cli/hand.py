"""run, shell: a cell's surroundings by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from envmgr.cli.options import DebugFlag, DeviceOption, JsonFlag, Name, ProjectOption
from envmgr.cli.session import Answer, Options, perform

Command = Annotated[list[str], typer.Argument(metavar="-- CMD...", help="The command, after `--`.")]


def register(application: typer.Typer) -> None:
    """Add the commands."""
    application.command(context_settings={"ignore_unknown_options": True})(run)
    application.command()(shell)


def run(
    name: Name,
    command: Command,
    device: DeviceOption = None,
    json: JsonFlag = False,
    project: ProjectOption = None,
    debug: DebugFlag = False,
) -> None:
    """Run your own command in an environment, in this folder, with the cell's home, settings and device."""
    _by_hand(Options("run", json, project, debug), name, device, command)


def shell(
    name: Name,
    device: DeviceOption = None,
    json: JsonFlag = False,
    project: ProjectOption = None,
    debug: DebugFlag = False,
) -> None:
    """Open a shell in an environment, in this folder, with the cell's home, settings and device."""
    _by_hand(Options("shell", json, project, debug), name, device, None)


def _by_hand(options: Options, name: str, device: str | None, command: Sequence[str] | None) -> None:
    """Run a command, or the user's shell; only where something is to be told afterwards, envmgr stays for it."""
    from envmgr.app.hand import run_by_hand
    from envmgr.app.workplace import Workplace
    from envmgr.cli import wishes

    def action(workplace: Workplace) -> Answer:
        staying = options.json or wishes.TIMINGS
        code = run_by_hand(workplace, name, device, command, talk_only=options.json, staying=staying)
        return Answer({"exit_code": code}, lambda: None, exit_code=code)

    perform(options, action)
