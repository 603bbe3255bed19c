"""The ports to processes, files and clocks, and what happens on the way: they speak of no noun but how files share.

`envmgr.ports` has them too; what is to start quickly takes them from here, so that no noun is built for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Protocol

from envmgr.model.sharing import Sharing

Turn = Callable[[Callable[[], None]], AbstractContextManager[None]]
"""The time in which something may go on: given what starts it, a context that calls that when it begins."""


@contextmanager
def at_once(start: Callable[[], None]) -> Iterator[None]:
    """Let something start without waiting, and go on as long as it will."""
    start()
    yield


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
    stderr as it comes, in a thread of its own. `turn` is entered once, when all is ready for the process to start, and
    left as soon as it has ended: what it waits for holds up nothing but the start, which it calls for itself.
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
    turn: Turn = at_once


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


class StoppableProcess(Process, Protocol):
    """Runs processes that can be ended before they end by themselves: all of them, or those of a part."""

    def apart(self) -> StoppableProcess:
        """Return what runs processes alike and stops its own alone; it is stopped with this one."""

    def stop_all(self) -> None:
        """End every process that is running now, and let `run` raise KeyboardInterrupt from now on."""


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime: ...
    def monotonic(self) -> float: ...


class Files(Protocol):
    """The file system, as far as rooms need it: every write is whole or not at all."""

    def read(self, path: Path) -> str | None: ...
    def write(self, path: Path, text: str, *, durable: bool = True) -> None: ...
    def add(self, path: Path, text: str, *, durable: bool = True) -> None: ...
    def settle(self) -> None: ...
    def sweep(self, folder: Path) -> None: ...
    def bring(self, source: Path, target: Path) -> None: ...
    def copy(self, source: Path, target: Path) -> None: ...
    def link(self, source: Path, target: Path) -> None: ...
    def exists(self, path: Path) -> bool: ...
    def is_folder(self, path: Path) -> bool: ...
    def is_plain_file(self, path: Path) -> bool: ...
    def is_file(self, path: Path) -> bool: ...
    def can_write(self, folder: Path) -> bool: ...
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


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened on the way, for whoever watches: what stage, on which thing, how far."""

    stage: str
    subject: str = ""
    detail: str = ""
    done: int = 0
    total: int = 0
    facts: Mapping[str, str] = field(default_factory=dict)


class Hearer(Protocol):
    """Hears of what happens on the way."""

    def on_event(self, event: Event) -> None: ...
