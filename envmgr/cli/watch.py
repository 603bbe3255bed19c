"""matrix watch."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from envmgr.cli.compare import share
from envmgr.cli.matrix import Effort, MatrixName
from envmgr.cli.options import DebugFlag, DeviceNames, EnvNames, JsonFlag, ProjectOption
from envmgr.cli.session import Answer, Options, perform, say


def register(group: typer.Typer) -> None:
    """Add the command."""
    group.command()(watch)


def watch(
    matrix: MatrixName = "nightly",
    env: EnvNames = None,
    device: DeviceNames = None,
    good: Annotated[
        str | None,
        typer.Option("--good", metavar="DATE", help="A day that was good (else: of the last good run, or the oldest)."),
    ] = None,
    slower: Annotated[
        str, typer.Option("--slower", metavar="20%", help="How much slower, beyond doubt, is a change.")
    ] = "20%",
    effort: Effort = None,
    json: JsonFlag = False,
    project: ProjectOption = None,
    debug: DebugFlag = False,
) -> None:
    """Measure the newest nightly beside the last good one; on a change, name the day that brought it. Exit 1 then."""
    from envmgr.app.building import BuildWishes
    from envmgr.app.planning import Selection
    from envmgr.app.watching import Tried, WatchWishes
    from envmgr.app.watching import watch as watched
    from envmgr.app.workplace import Workplace

    def told(word: str, day: Tried) -> None:
        versions = ", ".join(f"{name} {version}" for name, version in day.versions.items())
        say(f"  {word:<10} {day.date}  {versions}  run {day.run}")

    def action(workplace: Workplace) -> Answer:
        selection = Selection(matrix, tuple(env or ()), tuple(device or ()), effort)
        wishes = WatchWishes(selection, BuildWishes(), good, share(slower), tuple(sys.argv[1:]))
        found = watched(workplace, wishes)

        def show() -> None:
            state = "not as good as it was" if found.regressed else "as good as it was"
            say(f"{found.manifest}: {state} ({found.runs} runs)")
            told("newest", found.newest)
            say(*(f"    {change}" for change in found.newest.changes))
            if found.good:
                told("good", found.good)
            if found.culprit and found.last_good:
                told("last good", found.last_good)
                told("changed on", found.culprit)
                say(*(f"    {change}" for change in found.culprit.changes))
                say(*(f"  could not be built: {day}" for day in found.untried))
                say(f"  next       envmgr matrix compare {found.last_good.run} {found.culprit.run}")

        return Answer(found, show, exit_code=int(found.regressed))

    perform(Options("matrix watch", json, project, debug), action)
