"""Envs that are measured in: looked after, so that a cell finds what was built and not what another cell made of it."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from envmgr.app.building import Builder, Built
from envmgr.app.workplace import Workplace
from envmgr.env.build import MARKER
from envmgr.env.guard import Guard, record_of
from envmgr.errors import EnvmgrError
from envmgr.model.cell import Cell
from envmgr.model.manifest import Manifest
from envmgr.model.outcome import Outcome, Phase
from envmgr.model.result import CellResult
from envmgr.ports import Event

_SHARE = 0.05
"""The share of the cells' own time that looking after their env may take, as long as one runner is measured."""


@dataclass
class _Watch:
    """When an env was looked at last: what that took, and for how long which runner has been in it since."""

    cost: float = 0.0
    unseen: float = 0.0
    runner: str = ""


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
    def all(self) -> Mapping[str, Built]:
        """The envs that were built, by the version set's label."""
        return self._built

    def build(self, manifest: Manifest, variant: str) -> Built:
        """Return the env of a variant as it was built; one that has changed since is built again."""
        built = self._builder.build(manifest, variant)
        changed = "" if built.fresh else self._guard.changes(built.env)
        if changed:
            built = self._build_again(built, changed)
        self._built[built.target.label] = built
        return built

    def accept(self, built: Built) -> None:
        """Take a fresh env as it is now, with the bytecode that envmgr's own probes have left, for what was built."""
        if built.fresh:
            self._guard.accept(built.env)

    def enter(self, cell: Cell) -> Built:
        """Return the env for a cell; where another runner has been since the last look, it is looked at first."""
        watch = self._watches.setdefault(cell.label, _Watch())
        if watch.unseen and watch.runner != cell.runner:
            self._look(cell.label, watch)
        watch.runner = cell.runner
        return self._built[cell.label]

    def leave(self, cell: Cell, result: CellResult) -> CellResult:
        """Return the result of a cell, failed when its env has changed meanwhile; the next cell finds a clean one.

        Cells that are short beside the look itself are looked after together, as long as they are of one runner.
        """
        watch = self._watches[cell.label]
        watch.unseen += result.elapsed
        if watch.cost > _SHARE * watch.unseen:
            return result
        changed = self._look(cell.label, watch)
        if not changed:
            return result
        reason = f"while it ran its environment was changed: {changed}; it was set aside and built again"
        parts = (reason, result.reason)
        update = {"outcome": Outcome.FAILED, "phase": Phase.CHECK, "reason": "; ".join(part for part in parts if part)}
        return result.model_copy(update=update)

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
            again = self._builder.build(built.target.manifest, built.target.variant)
        except EnvmgrError as error:
            place.listener.on_event(Event("failed", built.target.label, error.what))
            return built
        self._guard.accept(again.env)
        return again
