"""Envs that are measured in: looked after, so that a cell finds what was built and not what another cell made of it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from envmgr.app.building import Builder, Built
from envmgr.app.workplace import Workplace
from envmgr.env.build import MARKER
from envmgr.env.guard import Guard, record_of
from envmgr.errors import EnvmgrError
from envmgr.model.cell import Cell
from envmgr.model.host import HostFacts
from envmgr.model.lock import Lock
from envmgr.model.manifest import Manifest
from envmgr.model.outcome import Outcome, Phase
from envmgr.model.result import CellResult
from envmgr.ports import Event

_SHARE = 0.05
"""The share of the cells' own time that looking after their env may take, as long as one runner is measured."""


@dataclass
class _Watch:
    """What goes on in an env: who is in it, and since when for how long which runner has been in it unseen.

    The first cell of a runner is alone in the env and may write to it: imports leave bytecode there, which later cells
    load. These may not, and several may be in it.
    """

    turn: threading.Condition = field(default_factory=threading.Condition)
    known: set[str] = field(default_factory=set)
    inside: int = 0
    alone: bool = False
    cost: float = 0.0
    unseen: float = 0.0
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


@dataclass(frozen=True, slots=True)
class Room:
    """An env as one cell gets it; `writable` tells whether it may write to it."""

    built: Built
    writable: bool


class GuardedEnvs:
    """Builds envs, and sets one aside and builds it again when something in it has changed."""

    def __init__(self, workplace: Workplace, builder: Builder) -> None:
        self._workplace = workplace
        self._builder = builder
        self._guard = Guard(workplace.files, workplace.process)
        self._built: dict[str, Built] = {}
        self._watches: dict[str, _Watch] = {}
        self._turn = threading.Lock()

    def __getitem__(self, label: str) -> Built:
        return self._built[label]

    @property
    def facts(self) -> HostFacts:
        """The facts of the host on which they are built."""
        return self._builder.facts

    @property
    def all(self) -> Mapping[str, Built]:
        """The envs that were built, by the version set's label."""
        return self._built

    def build(self, manifest: Manifest, variant: str, lock: Lock | None = None) -> Built:
        """Return the env of a variant as it was built; one that has changed since is built again.

        With a lock it is that lock's env, whatever is locked now.
        """
        built = self._of(manifest, variant, lock)
        changed = "" if built.fresh else self._guard.changes(built.env)
        if changed:
            built = self._build_again(built, changed)
        self._built[built.target.label] = built
        return built

    def _of(self, manifest: Manifest, variant: str, lock: Lock | None) -> Built:
        return self._builder.rebuild(manifest, variant, lock) if lock else self._builder.build(manifest, variant)

    def accept(self, built: Built) -> None:
        """Take a fresh env as it is now, with the bytecode that envmgr's own probes have left, for what was built."""
        if built.fresh:
            self._guard.accept(built.env)

    def measure(self, cell: Cell, run: Callable[[Room], CellResult]) -> CellResult:
        """Run a cell in its env and return its result, failed when the env has changed; the next finds a clean one.

        Cells that are short beside a look at their env are looked after together, as long as they are of one runner.
        """
        with self._turn:
            watch = self._watches.setdefault(cell.label, _Watch())
        first = watch.enter(cell.runner)
        try:
            if watch.unseen and watch.runner != cell.runner:
                self._look(cell.label, watch)
            watch.runner = cell.runner
            result = run(Room(self._built[cell.label], first))
            watch.unseen += result.elapsed
            if not first and watch.cost > _SHARE * watch.unseen:
                return result
            changed = self._look(cell.label, watch)
        finally:
            watch.leave()
        return _spoilt(result, changed) if changed else result

    def close(self) -> None:
        """Look once more at every env in which cells have been since the last look."""
        for label, watch in self._watches.items():
            if watch.unseen:
                self._look(label, watch)

    def _look(self, label: str, watch: _Watch) -> str:
        with self._turn:
            begun = self._workplace.clock.monotonic()
            built = self._built[label]
            changed = self._guard.changes(built.env)
            watch.cost = self._workplace.clock.monotonic() - begun
            watch.unseen = 0.0
            if changed:
                self._built[label] = self._build_again(built, changed)
            return changed

    def _build_again(self, built: Built, changed: str) -> Built:
        """Set a changed env aside and build it anew; where that fails, its cells find no interpreter and say so."""
        place, files = self._workplace, self._workplace.files
        folder = Path(built.env.path)
        place.listener.on_event(Event("warning", built.target.label, f"its environment has changed: {changed}"))
        aside = place.folders.cache / "set-aside" / folder.name
        with ExitStack() as stack:
            stack.enter_context(files.lock(folder.with_name(f"{folder.name}.lock")))
            files.remove(aside)
            files.remove(record_of(folder))
            files.remove(folder / MARKER)
            files.move(folder, aside)
        try:
            again = self._of(built.target.manifest, built.target.variant, built.lock)
        except EnvmgrError as error:
            place.listener.on_event(Event("failed", built.target.label, error.what))
            return built
        self._guard.accept(again.env)
        return again


def _spoilt(result: CellResult, changed: str) -> CellResult:
    reason = f"while it ran its environment was changed: {changed}; it was set aside and built again"
    parts = (reason, result.reason)
    update = {"outcome": Outcome.FAILED, "phase": Phase.CHECK, "reason": "; ".join(part for part in parts if part)}
    return result.model_copy(update=update)
