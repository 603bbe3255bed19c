"""Runs uv to fill an env: what it tells on the way is passed on, what it printed stays in the env."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from envmgr.env.downloads import DONE, Downloads, has_answers, without_progress
from envmgr.model.redaction import redact
from envmgr.outside import Clock, Completed, Event, Files, Hearer, Process, ProcessRequest

LOG = "install.log"


@dataclass(frozen=True, slots=True)
class Ports:
    """The ports that an env is filled through."""

    process: Process
    files: Files
    clock: Clock
    listener: Hearer


def run_installer(
    argv: tuple[str, ...], environment: Mapping[str, str], folder: Path, what: Event, ports: Ports
) -> tuple[Completed, str]:
    """Run uv in an env's folder and return how it ended and what it printed; `what` tells whose progress it is.

    It is told of as looked up until the indexes have answered, unless none is asked.
    """
    variables = {key: value for key, value in environment.items() if key != "UV_NO_PROGRESS"}
    downloads = Downloads(ports.clock.monotonic)
    asks = "--offline" not in argv

    def hear(line: str) -> None:
        told = downloads.hear(line)
        if told is not None:
            stage = "install" if told == DONE else "build" if downloads.building_alone else "fetch"
            ports.listener.on_event(Event(stage, what.subject, told, facts=downloads.sizes))
        elif asks and has_answers(line):
            ports.listener.on_event(what)

    ports.listener.on_event(replace(what, stage="look up") if asks else what)
    completed = ports.process.run(ProcessRequest(argv, cwd=folder, env=variables, hear=hear))
    output = without_progress(completed.stdout + completed.stderr)
    log = folder / LOG
    ports.files.write(log, (ports.files.read(log) or "") + redact(output), durable=False)
    return completed, output
