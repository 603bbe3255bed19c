"""Envs of a host that are measured in: a cell finds what was built, and not what another cell made of it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar

from envmgr.app.place import HostPlace
from envmgr.env.accepted import MARKER, lock_of, record_of
from envmgr.env.guard import Guard
from envmgr.errors import EnvmgrError
from envmgr.model.env import Env
from envmgr.model.result import CellResult, SetAside, spoilt
from envmgr.ports import Event, Turn, at_once

_SHARE = 0.005
"""The share of the cells' own time that looking after their env may take, as long as one runner is measured."""


@dataclass
class _Watch:
    """What goes on in an env: who is in it, and which cells of which runner have been in it unseen, and for how long.

    The first cell of a runner is alone in the env and may write to it: imports leave bytecode there, which later cells
    load. These may not, and several may be in it.
    """

    turn: threading.Condition = field(default_factory=threading.Condition)
    known: set[str] = field(default_factory=set)
    inside: int = 0
    alone: bool = False
    cost: float = 0.0
    unseen: float = 0.0
    cells: list[tuple[str, int]] = field(default_factory=list)
    runner: str = ""

    def enter(self, runner: str) -> bool:
        """Wait until a cell can go in, and tell whether it is the first of its runner."""
        with self.turn:
            while True:
                first = runner not in self.known
                if not self.alone and not (first and self.inside):
                    break
                self.turn.wait()
            self.known.add(runner)
            self.alone = first
            self.inside += 1
            return first

    def leave(self) -> None:
        """Let others in."""
        with self.turn:
            self.inside -= 1
            self.alone = False
            self.turn.notify_all()


Ended = TypeVar("Ended")


@dataclass(frozen=True, slots=True)
class Visitor:
    """One process of a cell that is to run in an env: it goes in through the `entrance`, and runs within its `turn`.

    Each is entered once at most, and none before those of earlier visitors, so that nobody waits for a later one.
    """

    runner: str
    cell: str
    round: int
    entrance: AbstractContextManager[None] = field(default_factory=nullcontext)
    turn: Turn = at_once


@dataclass(slots=True)
class _Visit:
    """What comes of a visitor: when its turn has begun (None: not yet), and what was seen of the env at its end."""

    of: Visitor
    must_look: bool
    begun: float | None = None
    changed: str = ""


@dataclass(frozen=True, slots=True)
class Seen:
    """What an env was found to have become `before` a cell was in it, and while it was (`changed`); mostly nothing."""

    before: str = ""
    changed: str = ""

    def told_in(self, result: CellResult) -> CellResult:
        """Return the cell's result, failed when its env was changed under it."""
        if self.before:
            result = result.model_copy(update={"env_changed": self.before})
        return spoilt(result, self.changed) if self.changed else result


@dataclass(frozen=True, slots=True)
class Room:
    """An env as one cell gets it; `writable` tells whether it may write to it, `turn` is around its process."""

    env: Env
    writable: bool
    turn: Turn


class EnvGuard:
    """Looks after the envs of one host, each by a name: one that has changed is set aside and built again."""

    def __init__(self, place: HostPlace) -> None:
        self._place = place
        self._guard = Guard(place.files, place.process)
        self._envs: dict[str, Env] = {}
        self._again: dict[str, Callable[[], Env]] = {}
        self._watches: dict[str, _Watch] = {}
        self._found: dict[str, str] = {}
        self._late: list[SetAside] = []
        self._turn = threading.Lock()

    def __contains__(self, name: str) -> bool:
        return name in self._envs

    def take(self, name: str, env: Env, again: Callable[[], Env], *, fresh: bool) -> Env:
        """Take an env into care, and return it as it was built: one that has changed since is built `again`."""
        self._again[name] = again
        self._envs[name] = env
        changed = "" if fresh else self._changes(name)
        if changed:
            self._found[name] = changed
            self._build_again(name, changed)
        return self._envs[name]

    def accept(self, name: str) -> None:
        """Take a fresh env as it is now, with the bytecode that envmgr's own probes have left, for what was built."""
        with self._alone(name):
            self._guard.accept(self._envs[name])

    def measure(self, name: str, visitor: Visitor, run: Callable[[Room], Ended]) -> tuple[Ended, Seen]:
        """Run a cell in an env and return what it came to, and what was seen of the env; the next finds a clean one.

        Cells that are short beside a look at their env are looked after together, as long as they are of one runner.
        A look is part of the visitor's turn: no process that has its turn later runs beside it.
        """
        with self._turn:
            watch = self._watches.setdefault(name, _Watch())
        with visitor.entrance:
            visit = _Visit(visitor, must_look=watch.enter(visitor.runner))
        try:
            ended = run(Room(self._envs[name], visit.must_look, partial(self._visiting, name, watch, visit)))
            if visit.begun is None:  # nothing was started, which may be for what has become of the env
                visit.must_look = True
                with self._visiting(name, watch, visit, lambda: None):
                    pass
            with self._turn:
                before = self._found.pop(name, "")
            return ended, Seen(before, visit.changed)
        finally:
            watch.leave()

    @contextmanager
    def _visiting(self, name: str, watch: _Watch, visit: _Visit, start: Callable[[], None]) -> Iterator[None]:
        clock, visitor = self._place.clock, visit.of

        def begin() -> None:
            if watch.unseen and watch.runner != visitor.runner:
                self._look(name, watch)
            watch.runner = visitor.runner
            visit.begun = clock.monotonic()
            start()

        with visitor.turn(begin):
            yield
            watch.unseen += clock.monotonic() - (visit.begun or 0.0)
            if visit.must_look or watch.cost <= _SHARE * watch.unseen:
                visit.changed = self._look(name, watch)
            else:
                watch.cells.append((visitor.cell, visitor.round))

    def look(self, name: str) -> None:
        """Look at an env in which cells have been since the last look."""
        watch = self._watches.get(name)
        if watch is not None and watch.unseen:
            self._look(name, watch)

    def look_at_all(self) -> None:
        """Look at every env in which cells have been since the last look."""
        for name in tuple(self._watches):
            self.look(name)

    def late(self) -> tuple[SetAside, ...]:
        """Return, once, what was found to have changed only after results of cells in it had been given."""
        with self._turn:
            found, self._late = tuple(self._late), []
        return found

    def _look(self, name: str, watch: _Watch) -> str:
        with self._turn:
            begun = self._place.clock.monotonic()
            changed = self._changes(name)
            watch.cost = self._place.clock.monotonic() - begun
            watch.unseen = 0.0
            cells, watch.cells = tuple(watch.cells), []
            if changed:
                if cells:
                    self._late.append(SetAside(env=name, changed=changed, cells=cells))
                self._build_again(name, changed)
            return changed

    def _build_again(self, name: str, changed: str) -> None:
        """Set a changed env aside and build it anew; where that fails, its cells find no interpreter and say so.

        Another process that uses the env may have done so meanwhile: what it has built is taken, not set aside.
        """
        place, files = self._place, self._place.files
        folder = Path(self._envs[name].path)
        place.listener.on_event(Event("warning", name, f"its environment has changed: {changed}"))
        aside = place.folders.cache / "set-aside" / folder.name
        with self._alone(name):
            if files.exists(folder) and self._guard.changes(self._envs[name]):
                files.remove(aside)
                files.remove(record_of(folder))
                files.remove(folder / MARKER)
                files.move(folder, aside)
        try:
            self._envs[name] = self._again[name]()
        except EnvmgrError as error:
            place.listener.on_event(Event("failed", name, error.what))
            return
        self.accept(name)

    def _changes(self, name: str) -> str:
        with self._alone(name):
            return self._guard.changes(self._envs[name])

    def _alone(self, name: str) -> AbstractContextManager[None]:
        """Keep other processes from looking at an env, or building it, meanwhile."""
        return self._place.files.lock(lock_of(Path(self._envs[name].path)))
