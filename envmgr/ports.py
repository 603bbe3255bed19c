"""What rooms ask of the outside: protocols that take data, never a manager."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Protocol, TypeVar

from envmgr.model.cell import Cell, Plan
from envmgr.model.conditions import Sight
from envmgr.model.env import Sharing
from envmgr.model.finding import Finding
from envmgr.model.result import CellResult, Extension, Run, RunRecord, SetAside

Job = TypeVar("Job")
Done = TypeVar("Done")


@dataclass(frozen=True, slots=True)
class ProcessRequest:
    """One process to run to its end.

    `env` is the complete environment (None: the caller's, as `envmgr` itself was given it). `log` is a file that gets
    stdout and stderr, bounded to `log_limit` bytes with head and tail kept; without it both are returned as text.
    `timeout` and `grace` (between SIGTERM and SIGKILL of the whole process tree) are seconds; `memory_limit` is bytes.
    `shared_terminal` hands the caller's standard streams to the process, with `talk_only` its stdout goes to the
    caller's stderr. `kept` tells that nothing which descends from
    the process may survive it; a harmless short question does without. `writable` are the only folders below which it
    may change files, where the system can see to that (Linux with Landlock); None: all. `hear` is told each line of
    stderr as it comes, in a thread of its own.
    """

    argv: tuple[str, ...]
    cwd: Path | None = None
    env: Mapping[str, str] | None = None
    stdin: str | None = None
    timeout: float | None = None
    grace: float = 2.0
    log: Path | None = None
    log_limit: int = 4_000_000
    memory_limit: int | None = None
    shared_terminal: bool = False
    talk_only: bool = False
    kept: bool = True
    writable: tuple[Path, ...] | None = None
    hear: Callable[[str], None] | None = None


@dataclass(frozen=True, slots=True)
class Completed:
    """How a process ended: `exit_code` or `signal`, never both; `started` is False when it could not be started.

    `processor_seconds` is what it and its ended descendants used, where the system tells; `over_memory` that it was
    ended because all of them together took more than `memory_limit`.
    """

    argv: tuple[str, ...]
    exit_code: int | None
    signal: int | None = None
    timed_out: bool = False
    started: bool = True
    stdout: str = ""
    stderr: str = ""
    elapsed: float = 0.0
    peak_memory: int | None = None
    processor_seconds: float | None = None
    over_memory: bool = False

    @property
    def good(self) -> bool:
        """True when the process ended by itself with exit code 0."""
        return self.exit_code == 0 and not self.timed_out


class Process(Protocol):
    """Runs one process; never raises for how it ends."""

    def run(self, request: ProcessRequest) -> Completed: ...


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime: ...
    def monotonic(self) -> float: ...


class Machine(Protocol):
    """Tells what goes on in the machine at this moment."""

    def look(self) -> Sight: ...


class Files(Protocol):
    """The file system, as far as rooms need it: every write is whole or not at all."""

    def read(self, path: Path) -> str | None: ...
    def write(self, path: Path, text: str, *, durable: bool = True) -> None: ...
    def settle(self) -> None: ...
    def sweep(self, folder: Path) -> None: ...
    def bring(self, source: Path, target: Path) -> None: ...
    def copy(self, source: Path, target: Path) -> None: ...
    def link(self, source: Path, target: Path) -> None: ...
    def exists(self, path: Path) -> bool: ...
    def is_folder(self, path: Path) -> bool: ...
    def is_plain_file(self, path: Path) -> bool: ...
    def is_file(self, path: Path) -> bool: ...
    def make_folder(self, path: Path) -> None: ...
    def remove(self, path: Path) -> None: ...
    def list(self, folder: Path) -> tuple[Path, ...]: ...
    def names(self, folder: Path) -> tuple[str, ...]: ...
    def size(self, path: Path) -> int: ...
    def portrait(self, folder: Path) -> str | None: ...
    def lay_out(self, portrait: str, folder: Path) -> None: ...
    def snapshot(self, folder: Path) -> dict[str, str]: ...
    def facts(self, path: Path) -> str: ...
    def digest(self, path: Path, algorithm: str) -> str: ...
    def ways_to_share(self, source: Path, target: Path) -> tuple[Sharing, str]: ...
    def detach(self, path: Path) -> int: ...
    def places_of_bytecode(self, folder: Path) -> tuple[Path, ...]: ...
    def given_back(self, paths: Sequence[Path]) -> tuple[int, ...]: ...
    def move(self, source: Path, target: Path) -> None: ...
    def identity(self, path: Path) -> str: ...
    def free_space(self, path: Path) -> int: ...
    def scratch(self, purpose: str) -> AbstractContextManager[Path]: ...
    def claim(self, folder: Path) -> None: ...
    def is_claimed(self, folder: Path) -> bool: ...
    def is_orphan(self, path: Path) -> bool: ...
    def lock(self, path: Path, timeout: float = -1) -> AbstractContextManager[None]: ...
    def drop_lock(self, path: Path) -> bool: ...


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


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened on the way, for whoever watches: what stage, on which thing, how far."""

    stage: str
    subject: str = ""
    detail: str = ""
    done: int = 0
    total: int = 0
    facts: Mapping[str, str] = field(default_factory=dict)


class Listener:
    """Hears of progress; does nothing unless a subclass says so."""

    def on_event(self, event: Event) -> None:
        """Take note of one event."""

    def on_plan(self, plan: Plan, measured: int = 0) -> None:
        """Take note of what will be measured; so many of its processes are there already."""

    def on_further(self, processes: int) -> None:
        """Take note that so many more processes follow than were planned for sure."""

    def on_cell_started(self, cell: Cell, round_number: int) -> None:
        """Take note that a process of a cell has been started."""

    def on_cell_finished(self, cell: Cell, result: CellResult) -> None:
        """Take note of one result."""
