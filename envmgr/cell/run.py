"""Running one cell: one process of its runner in a scratch folder, and what became of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from envmgr.cell.classify import Evidence, classify, one_line
from envmgr.cell.conditions import conditions_between
from envmgr.cell.script import words_to_run
from envmgr.errors import EnvmgrError
from envmgr.model.cell import Cell
from envmgr.model.conditions import Conditions, Sight
from envmgr.model.outcome import Outcome, Phase
from envmgr.model.result import CellResult
from envmgr.ports import Clock, Completed, Files, Machine, Process, ProcessRequest, Turn, at_once

_PROTOCOL = 1
_REQUEST = "in.json"
_REPORT = "out.json"
FILES = (_REQUEST, _REPORT)
"""What a cell that does nothing unusual leaves in its folder."""
_REPORT_LIMIT = 64_000_000


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a cell is run with: the doors to the outside, and the places that belong to its env.

    `python` is the env's interpreter, `runner` the script, `variables` the complete environment of the process. With a
    `machine` the result tells what else went on there.
    `log` gets stdout and stderr; `log_name` is how the result refers to it. `writable` are the folders that it may
    write to besides its own (None: all). `folder` is the one to work in, with nothing but what `lay_request` has put
    there.
    """

    process: Process
    files: Files
    clock: Clock
    python: Path
    runner: Path
    variables: Mapping[str, str]
    log: Path
    folder: Path
    log_name: str = ""
    machine: Machine | None = None
    writable: tuple[Path, ...] | None = None


@dataclass(frozen=True, slots=True)
class Measurement:
    """One process of a cell that has ended and is not judged yet, or the result of one that could not be run.

    What it wrote still lies in its folder: the next cell need not wait until that is read.
    """

    of: Cell
    round: int
    started_at: str
    surroundings: Surroundings
    ended: Completed | CellResult
    conditions: Conditions | None = None


def run_cell(cell: Cell, round_number: int, surroundings: Surroundings) -> CellResult:
    """Run one process of a cell and return what became of it; a cell that goes wrong is a value, not an exception."""
    return result_of(measure_cell(cell, round_number, surroundings))


def measure_cell(cell: Cell, round_number: int, surroundings: Surroundings, turn: Turn = at_once) -> Measurement:
    """Run one process of a cell to its end, within its turn; one that could not be run is a value as well."""
    watched = _Watched(surroundings, turn)
    ended: Completed | CellResult
    try:
        ended = _run(cell, round_number, surroundings, watched.turn)
    except (EnvmgrError, OSError, ValueError) as error:
        ended = not_run(cell, round_number, error)
    conditions = watched.conditions(ended.processor_seconds) if isinstance(ended, Completed) else None
    started_at = watched.started_at or surroundings.clock.now()
    return Measurement(cell, round_number, started_at.isoformat(timespec="seconds"), surroundings, ended, conditions)


def result_of(measurement: Measurement) -> CellResult:
    """Return what became of a process: read from its report and its log, which are still there."""
    cell, surroundings, ended = measurement.of, measurement.surroundings, measurement.ended
    if isinstance(ended, Completed):
        try:
            result = classify(_evidence(ended, surroundings, cell), cell, measurement.round)
        except (EnvmgrError, OSError, ValueError) as error:
            result = not_run(cell, measurement.round, error)
    else:
        result = ended
    log = surroundings.log_name or surroundings.log.name
    update = {"started_at": measurement.started_at, "log": log, "conditions": measurement.conditions}
    return result.model_copy(update=update)


def lay_request(cell: Cell, folder: Path, files: Files) -> None:
    """Write what a cell's runner is asked for into the folder that it will work in."""
    files.write(folder / _REQUEST, _request_text(cell), durable=False)


def not_run(cell: Cell, round_number: int, error: Exception) -> CellResult:
    """Return the result of a cell that envmgr itself could not run."""
    return _failed(cell, round_number, Phase.RUN, one_line(f"envmgr could not run the cell: {error}"))


class _Watched:
    """When a process was started, and what the machine told just before it and just after."""

    def __init__(self, surroundings: Surroundings, turn: Turn) -> None:
        self._surroundings = surroundings
        self._turn = turn
        self._sights: list[Sight] = []
        self.started_at: datetime | None = None

    @contextmanager
    def turn(self, start: Callable[[], None]) -> Iterator[None]:
        """Take the turn, and look at the machine as it begins and ends."""

        def begin() -> None:
            self.started_at = self._surroundings.clock.now()
            self._look()
            start()

        with self._turn(begin):
            yield
            self._look()

    def _look(self) -> None:
        if self._surroundings.machine is not None:
            self._sights.append(self._surroundings.machine.look())

    def conditions(self, own: float | None) -> Conditions | None:
        """Return what went on besides a process that itself took `own` processor seconds, if that was seen."""
        if not self._sights:
            return None
        before, after = self._sights
        return conditions_between(before, after, own)


def _run(cell: Cell, round_number: int, surroundings: Surroundings, turn: Turn) -> Completed | CellResult:
    files, python = surroundings.files, surroundings.python
    runner = files.read(surroundings.runner)
    if runner is None:
        return _failed(cell, round_number, Phase.RUN, f"the runner is not there: {surroundings.runner}")
    completed = surroundings.process.run(_process_request(cell, runner, surroundings, turn))
    if completed.started or files.exists(python):
        return completed
    return _failed(cell, round_number, Phase.INTERPRETER, f"the env's interpreter is not there: {python}")


def _process_request(cell: Cell, runner: str, surroundings: Surroundings, turn: Turn) -> ProcessRequest:
    folder = surroundings.folder
    words = words_to_run(surroundings.runner, runner)
    request = ("--request", str(folder / _REQUEST), "--report", str(folder / _REPORT))
    return ProcessRequest(
        argv=(str(surroundings.python), "-I", *words, *request),
        cwd=folder,
        env=surroundings.variables,
        timeout=cell.timeout,
        log=surroundings.log,
        memory_limit=cell.memory,
        writable=None if surroundings.writable is None else (folder, *surroundings.writable),
        turn=turn,
    )


def _request_text(cell: Cell) -> str:
    request = {
        "protocol": _PROTOCOL,
        "cell": cell.id,
        "device": cell.device_name or None,
        "parameters": cell.parameters,
    }
    return json.dumps(request)


def _evidence(completed: Completed, surroundings: Surroundings, cell: Cell) -> Evidence:
    text, problem = _read_report(surroundings.folder / _REPORT, surroundings.files)
    log = surroundings.files.read(surroundings.log) or ""
    return Evidence(completed, text, problem, log, cell.memory)


def _read_report(path: Path, files: Files) -> tuple[str | None, str]:
    """Return the text of the report, or why what lies at its place is not read: a link could point anywhere."""
    if not files.is_plain_file(path):
        other = "the report is not a plain file (a link, a pipe or a folder), so it is not read"
        return None, other if files.exists(path) else ""
    size = files.size(path)
    if size > _REPORT_LIMIT:
        return None, f"the report is too large: {size} bytes, at most {_REPORT_LIMIT} are read"
    return files.read(path), ""


def _failed(cell: Cell, round_number: int, phase: Phase, reason: str) -> CellResult:
    return CellResult(cell=cell.id, round=round_number, outcome=Outcome.FAILED, phase=phase, reason=reason)
