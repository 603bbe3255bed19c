"""Running one cell: one process of its runner in a scratch folder, and what became of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from envmgr.cell.classify import Evidence, classify, one_line
from envmgr.cell.conditions import conditions_between
from envmgr.errors import EnvmgrError
from envmgr.model.cell import Cell
from envmgr.model.outcome import Outcome, Phase
from envmgr.model.result import CellResult
from envmgr.ports import Clock, Completed, Files, Machine, Process, ProcessRequest

_PROTOCOL = 1
_REQUEST = "in.json"
_REPORT_LIMIT = 64_000_000


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a cell is run with: the doors to the outside, and the places that belong to its env.

    `python` is the env's interpreter, `runner` the script, `variables` the complete environment of the process. With a
    `machine` the result tells what else went on there.
    `log` gets stdout and stderr; `log_name` is how the result refers to it. `writable` are the folders that it may
    write to besides its scratch folder (None: all). `folder` is one to work in, with nothing but what `lay_request` has
    put there; without it one is made.
    """

    process: Process
    files: Files
    clock: Clock
    python: Path
    runner: Path
    variables: Mapping[str, str]
    log: Path
    log_name: str = ""
    machine: Machine | None = None
    writable: tuple[Path, ...] | None = None
    folder: Path | None = None


def run_cell(cell: Cell, round_number: int, surroundings: Surroundings) -> CellResult:
    """Run one process of a cell and return what became of it; a cell that goes wrong is a value, not an exception."""
    started_at = surroundings.clock.now().isoformat(timespec="seconds")
    try:
        result = _measure(cell, round_number, surroundings)
    except (EnvmgrError, OSError, ValueError) as error:
        result = not_run(cell, round_number, error)
    log = surroundings.log_name or surroundings.log.name
    return result.model_copy(update={"started_at": started_at, "log": log})


def lay_request(cell: Cell, folder: Path, files: Files) -> None:
    """Write what a cell's runner is asked for into the folder that it will work in."""
    files.write(folder / _REQUEST, _request_text(cell), durable=False)


def not_run(cell: Cell, round_number: int, error: Exception) -> CellResult:
    """Return the result of a cell that envmgr itself could not run."""
    return _failed(cell, round_number, Phase.RUN, one_line(f"envmgr could not run the cell: {error}"))


def _measure(cell: Cell, round_number: int, surroundings: Surroundings) -> CellResult:
    files = surroundings.files
    if not files.exists(surroundings.python):
        reason = f"the env's interpreter is not there: {surroundings.python}"
        return _failed(cell, round_number, Phase.INTERPRETER, reason)
    if not files.exists(surroundings.runner):
        return _failed(cell, round_number, Phase.RUN, f"the runner is not there: {surroundings.runner}")
    with nullcontext(surroundings.folder) if surroundings.folder else files.scratch("cell") as folder:
        request, report = folder / _REQUEST, folder / "out.json"
        if not surroundings.folder:
            lay_request(cell, folder, files)
        before = surroundings.machine.look() if surroundings.machine else None
        completed = surroundings.process.run(
            ProcessRequest(
                argv=_command(surroundings, request, report),
                cwd=folder,
                env=surroundings.variables,
                timeout=cell.timeout,
                log=surroundings.log,
                memory_limit=cell.memory,
                writable=None if surroundings.writable is None else (folder, *surroundings.writable),
            )
        )
        result = classify(_evidence(completed, report, surroundings, cell), cell, round_number)
        if surroundings.machine is None or before is None:
            return result
        conditions = conditions_between(before, surroundings.machine.look(), completed.processor_seconds)
        return result.model_copy(update={"conditions": conditions})


def _command(surroundings: Surroundings, request: Path, report: Path) -> tuple[str, ...]:
    script = str(surroundings.runner)
    return (str(surroundings.python), "-I", script, "--request", str(request), "--report", str(report))


def _request_text(cell: Cell) -> str:
    request = {
        "protocol": _PROTOCOL,
        "cell": cell.id,
        "device": cell.device_name or None,
        "parameters": cell.parameters,
    }
    return json.dumps(request, indent=1)


def _evidence(completed: Completed, report: Path, surroundings: Surroundings, cell: Cell) -> Evidence:
    text, problem = _read_report(report, surroundings.files)
    log = surroundings.files.read(surroundings.log) or ""
    return Evidence(completed, text, problem, log, cell.memory)


def _read_report(path: Path, files: Files) -> tuple[str | None, str]:
    """Return the text of the report, or why what lies at its place is not read: a link could point anywhere."""
    if not files.exists(path):
        return None, ""
    if not files.is_plain_file(path):
        return None, "the report is not a plain file (a link, a pipe or a folder), so it is not read"
    size = files.size(path)
    if size > _REPORT_LIMIT:
        return None, f"the report is too large: {size} bytes, at most {_REPORT_LIMIT} are read"
    return files.read(path), ""


def _failed(cell: Cell, round_number: int, phase: Phase, reason: str) -> CellResult:
    return CellResult(cell=cell.id, round=round_number, outcome=Outcome.FAILED, phase=phase, reason=reason)
