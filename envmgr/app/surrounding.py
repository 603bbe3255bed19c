"""What one process of a cell is run with, on whichever host."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from envmgr.app.confining import own_temporary
from envmgr.app.place import HostPlace
from envmgr.app.probing import selection_of, variables_of
from envmgr.cell.run import Surroundings
from envmgr.model.cell import Cell
from envmgr.model.env import Env
from envmgr.model.manifest import Manifest


@dataclass(frozen=True, slots=True)
class CellPlaces:
    """Where one process of a cell has its home, its folder to work in and its runner, and where its log goes."""

    home: Path
    folder: Path
    runner: Path
    log: Path
    log_name: str


def variables_in(place: HostPlace, env: Env, manifest: Manifest, cell: Cell, home: Path) -> Mapping[str, str]:
    """Return the complete environment of a cell's process in an env, with temporary files of its own."""
    variables = variables_of(place, env, manifest, home, selection_of(manifest, cell.device))
    return variables | own_temporary(place, manifest, home)


def surroundings_in(
    place: HostPlace, env: Env, at: CellPlaces, variables: Mapping[str, str], writable: tuple[Path, ...]
) -> Surroundings:
    """Return what a cell's process is run with in an env; it may write to `writable` besides its own places."""
    return Surroundings(
        process=place.process,
        files=place.files,
        clock=place.clock,
        machine=place.machine,
        python=Path(env.python),
        runner=at.runner,
        variables=variables,
        log=at.log,
        log_name=at.log_name,
        writable=(at.home, *writable),
        folder=at.folder,
    )
