"""One process of one cell: its own home, its own variables, its own log."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from envmgr.app.confining import TEMPORARY, outside, writable_of
from envmgr.app.env_guard import Room, Visitor
from envmgr.app.guarding import GuardedEnvs
from envmgr.app.laying import lay_data
from envmgr.app.surrounding import CellPlaces, surroundings_in, variables_in
from envmgr.app.turns import Turns
from envmgr.app.workplace import Workplace
from envmgr.cell.run import FILES, Measurement, Surroundings, lay_request, measure_cell, not_run, result_of
from envmgr.errors import EnvmgrError
from envmgr.model.cell import Cell
from envmgr.model.env import Env
from envmgr.model.result import CellResult
from envmgr.ports import Event
from envmgr.store.query import WARM_UP
from envmgr.system.rooms import Rooms

_VARIABLES_KEPT = 256


class CellRunner:
    """Runs cells of one run in the envs that were built for it."""

    def __init__(self, workplace: Workplace, run_id: str, envs: GuardedEnvs, jobs: int = 1) -> None:
        self._workplace = workplace
        self._run_id = run_id
        self._envs = envs
        self._entrances = Turns(1)
        self._turns = Turns(jobs)
        self._variables: dict[tuple[str, str, Path], tuple[Env, Mapping[str, str]]] = {}
        # Where something may outlive its process, what it does later must not reach the next one.
        self._rooms = Rooms(
            workplace.files, ("home", f"home/{TEMPORARY}", "work"), {"work": FILES}, again=workplace.process.keeps
        )

    def run(self, number: int, cell: Cell, round_number: int) -> CellResult:
        """Run one process of a cell and return its result, whatever becomes of it.

        Jobs are numbered from 0 and measured in that order; what goes before and comes after needs no turn.
        """

        @contextmanager
        def turn(start: Callable[[], None]) -> Iterator[None]:
            with self._turns.take(number, start):
                self._workplace.listener.on_cell_started(cell, round_number)
                yield

        entrance = self._entrances.take(number)
        try:
            return self._process(cell, Visitor(cell.runner, cell.id, round_number, entrance, turn))
        finally:
            self._entrances.give_up(number)
            self._turns.give_up(number)

    def warm_up(self, cell: Cell) -> None:
        """Run one process of a cell whose result nobody keeps: it fills the caches that the measured ones find."""
        listener = self._workplace.listener
        listener.on_event(Event("warming up", cell.name))
        self._process(cell, Visitor(cell.runner, cell.id, WARM_UP))
        listener.on_event(Event("done", cell.name, "warmed up"))

    def close(self) -> None:
        """Remove what was made for more cells than came."""
        self._rooms.close()

    def _process(self, cell: Cell, visitor: Visitor) -> CellResult:
        files, round_number = self._workplace.files, visitor.round
        with self._rooms.take("cell") as scratch:
            home, folder = scratch / "home", scratch / "work"
            manifest = self._workplace.shelf[cell.manifest]
            env = self._envs[cell.label].env
            try:
                lay_data(self._workplace, manifest, home)
                lay_request(cell, folder, files)
                around = self._around(env, cell, round_number, scratch)
            except (EnvmgrError, OSError) as error:
                return not_run(cell, round_number, error)

            def run(room: Room) -> Measurement:
                here = around
                if room.writable or room.env is not env:
                    here = self._around(room.env, cell, round_number, scratch, writable=room.writable)
                return measure_cell(cell, round_number, here, room.turn)

            try:
                ended, seen = self._envs.measure(cell.label, visitor, run)
            except (EnvmgrError, OSError) as error:
                return not_run(cell, round_number, error)
            return seen.told_in(result_of(ended))

    def _around(
        self, env: Env, cell: Cell, round_number: int, scratch: Path, *, writable: bool = False
    ) -> Surroundings:
        """Return what a cell is run with in an env, to which it may write or not."""
        place, home = self._workplace, scratch / "home"
        log = place.store.log_path(self._run_id, cell.id, round_number)
        runner = place.shelf.runners.get(cell.runner, Path(f"{cell.runner}.py"))
        at = CellPlaces(home, scratch / "work", runner, log, f"logs/{log.name}")
        inside = writable_of(place, env) if writable else ()
        return surroundings_in(place, env, at, self._variables_in(env, cell, home), (*self._outside, *inside))

    def _variables_in(self, env: Env, cell: Cell, home: Path) -> Mapping[str, str]:
        """Return the variables of a cell's process; those of cells that differ in neither env, device nor home last."""
        key = cell.label, cell.device_name, home
        known = self._variables.get(key)
        if known is None or known[0] is not env:
            known = env, variables_in(self._workplace, env, self._workplace.shelf[cell.manifest], cell, home)
            if len(self._variables) >= _VARIABLES_KEPT:  # where no home serves again, none of them will
                self._variables.clear()
            self._variables[key] = known
        return known[1]

    @cached_property
    def _outside(self) -> tuple[Path, ...]:
        return outside(self._workplace)
