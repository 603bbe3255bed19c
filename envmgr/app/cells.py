"""One process of one cell: its own home, its own variables, its own log."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from envmgr.app.building import Built
from envmgr.app.probing import selection_of, variables_of
from envmgr.app.workplace import Workplace
from envmgr.cell.run import Surroundings, run_cell
from envmgr.model.cell import Cell
from envmgr.model.manifest import Manifest
from envmgr.model.result import CellResult


class CellRunner:
    """Runs cells of one run in the envs that were built for it."""

    def __init__(self, workplace: Workplace, run_id: str, built: Mapping[str, Built]) -> None:
        self._workplace = workplace
        self._run_id = run_id
        self._built = built

    def run(self, job: tuple[Cell, int]) -> tuple[Cell, CellResult]:
        """Run one process of a cell and return its result, whatever becomes of it."""
        cell, round_number = job
        place = self._workplace
        place.listener.on_cell_started(cell, round_number)
        built = self._built[cell.label]
        manifest = place.shelf[cell.manifest]
        log = place.store.log_path(self._run_id, cell.id, round_number)
        with place.files.scratch("home") as home:
            lay_data(place, manifest, home)
            surroundings = Surroundings(
                process=place.process,
                files=place.files,
                clock=place.clock,
                python=Path(built.env.python),
                runner=place.shelf.runners.get(cell.runner, Path(f"{cell.runner}.py")),
                variables=variables_of(place, built.env, manifest, home, selection_of(manifest, cell.device)),
                log=log,
                log_name=f"logs/{log.name}",
            )
            return cell, run_cell(cell, round_number, surroundings)


def lay_data(workplace: Workplace, manifest: Manifest, home: Path) -> None:
    """Give a cell's home its own copy of the weights and data sets that the manifest names under `data`.

    A copy (a clone, where the file system has them) cannot be written through: the user's files stay as they are. What
    is named below the user's home has the same place below the cell's.
    """
    for name in manifest.data:
        source = Path(name.replace("~", str(workplace.caller.home), 1)) if name.startswith("~") else Path(name)
        if not source.is_absolute():
            source = (workplace.project.root or workplace.caller.folder) / source
        if not workplace.files.exists(source):
            continue
        below_home = source.is_relative_to(workplace.caller.home)
        target = home / source.relative_to(workplace.caller.home) if below_home else home / "data" / source.name
        workplace.files.copy(source, target)
