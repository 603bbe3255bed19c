"""What rooms ask of the outside: protocols that take data, never a manager."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Protocol, TypeVar

from envmgr.model.cell import Cell, Plan
from envmgr.model.conditions import Sight
from envmgr.model.finding import Finding
from envmgr.model.result import CellResult, Extension, Run, RunRecord, SetAside
from envmgr.outside import (
    Clock,
    Completed,
    Event,
    Files,
    Hearer,
    Process,
    ProcessRequest,
    StoppableProcess,
    Turn,
    at_once,
)

__all__ = [
    "Artefacts",
    "Clock",
    "Completed",
    "Event",
    "Executor",
    "Files",
    "Hearer",
    "Listener",
    "Machine",
    "Process",
    "ProcessRequest",
    "StoppableProcess",
    "Store",
    "Turn",
    "Web",
    "at_once",
]

Job = TypeVar("Job")
Done = TypeVar("Done")


class Machine(Protocol):
    """Tells what goes on in the machine at this moment."""

    def look(self) -> Sight: ...


class Artefacts(Protocol):
    """Files that indexes serve, and archives of files."""

    def fetch(self, url: str, target: Path, sha256: str) -> None: ...
    def digest(self, path: Path) -> str: ...
    def pack(self, target: Path, members: Mapping[str, Path | str]) -> None: ...
    def unpack(self, source: Path, folder: Path) -> tuple[str, ...]: ...


class Web(Protocol):
    """Reads one page; None when it cannot be had."""

    def get(self, url: str, accept: str = "*/*") -> str | None: ...


class Executor(Protocol):
    """Applies a function to jobs and yields what it returns as it comes; knows nothing of what the jobs are."""

    def map(self, function: Callable[[Job], Done], jobs: Iterable[Job]) -> Iterator[Done]: ...


class Store(Protocol):
    """Append-only results of runs."""

    def begin(self, record: RunRecord) -> None: ...
    def append(self, run: str, result: CellResult) -> None: ...
    def set_aside(self, run: str, found: SetAside) -> None: ...
    def prove(self, run: str, finding: Finding) -> None: ...
    def extend(self, run: str, extension: Extension) -> None: ...
    def finish(self, run: str) -> None: ...
    def names(self) -> tuple[str, ...]: ...
    def head(self, run: str) -> RunRecord: ...
    def load(self, run: str) -> Run: ...
    def log_path(self, run: str, cell: str, round_number: int) -> Path: ...
    def lock_path(self, run: str, digest: str) -> Path: ...


class Listener:
    """Hears of progress; does nothing unless a subclass says so."""

    def on_event(self, event: Event) -> None:
        """Take note of one event."""

    def on_terminal_taken(self) -> None:
        """Take note that a process is given the terminal: whatever is shown there from now on is its own."""

    def on_plan(self, plan: Plan, measured: int = 0) -> None:
        """Take note of what will be measured; so many of its processes are there already."""

    def on_further(self, processes: int) -> None:
        """Take note that so many more processes follow than were planned for sure."""

    def on_cell_started(self, cell: Cell, round_number: int) -> None:
        """Take note that a process of a cell has been started."""

    def on_cell_finished(self, cell: Cell, result: CellResult) -> None:
        """Take note of one result."""
