"""fleet up, fleet worker: hosts that measure for a client elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from envmgr.cli.options import DebugFlag, JsonFlag, ProjectOption
from envmgr.cli.session import Answer, Options, perform

Insecure = Annotated[
    bool, typer.Option("--insecure", help="Even without TLS beyond loopback: whoever reaches it can run anything here.")
]


def register(group: typer.Typer) -> None:
    """Add the commands."""
    for command in (up, worker):
        group.command()(command)


def up(
    workers: Annotated[int, typer.Option("--workers", "-n", metavar="N", min=0, help="Workers on this machine.")] = 2,
    address: Annotated[
        str, typer.Option("--address", metavar="ADDRESS", help="Where to listen; port 0 takes a free one.")
    ] = "tcp://127.0.0.1:8786",
    insecure: Insecure = False,
    json: JsonFlag = False,
    project: ProjectOption = None,
    debug: DebugFlag = False,
) -> None:
    """Start a scheduler with some workers here, until Ctrl-C; a worker that dies is started again."""
    from envmgr.app.fleets.hosts import be_fleet
    from envmgr.app.workplace import Workplace

    def action(workplace: Workplace) -> Answer:
        be_fleet(workplace, address, workers, insecure=insecure)
        return Answer({}, lambda: None)

    perform(Options("fleet up", json, project, debug), action)


def worker(
    address: Annotated[str, typer.Argument(metavar="ADDRESS", help="The scheduler's: tcp://127.0.0.1:8786.")],
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="What this host is called in the fleet.")
    ] = None,
    facts: Annotated[
        Path | None, typer.Option("--facts", metavar="FACTS.json", help="Announce these facts, for trying out.")
    ] = None,
    stand_in: Annotated[
        Path | None, typer.Option("--stand-in", metavar="PYTHON", help="Answers for every environment, for trying out.")
    ] = None,
    together: Annotated[
        bool, typer.Option("--together", help="Measure beside other workers on this machine; it disturbs times.")
    ] = False,
    insecure: Insecure = False,
    json: JsonFlag = False,
    project: ProjectOption = None,
    debug: DebugFlag = False,
) -> None:
    """Be a host of a fleet: announce this machine's facts, build and measure what comes, until it is ended."""
    from envmgr.app.fleets.hosts import WorkerWishes, be_worker
    from envmgr.app.workplace import Workplace

    def action(workplace: Workplace) -> Answer:
        be_worker(workplace, WorkerWishes(address, name, facts, stand_in, together, insecure))
        return Answer({}, lambda: None)

    perform(Options("fleet worker", json, project, debug), action)
