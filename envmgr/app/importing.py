"""Runs from elsewhere, taken into this project's results."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from envmgr.app.workplace import Workplace
from envmgr.errors import StoreError
from envmgr.model.noun import Noun
from envmgr.store.results import FileStore

_HEAD = "run.json"
_FINISHED = "finished"
_PROVEN = "findings"
"""What came after the run, and may have come here otherwise: what is here already stays."""

_LAST = (_FINISHED, _HEAD)
"""What is copied last: without its head it is no run."""


class ImportedRun(Noun):
    """What became of one run that was to be imported: how many files were new; `problem` when it was left out."""

    run: str
    host: str = ""
    cells: int = 0
    added: int = 0
    damaged: tuple[str, ...] = ()
    problem: str = ""


def import_runs(workplace: Workplace, folder: Path) -> tuple[ImportedRun, ...]:
    """Copy every run below a folder (a run, a folder of runs, or a project) into the results, adding only what is new.

    A run that is there already with another head, or with other results, is left alone and named.
    """
    if not folder.is_absolute():
        folder = workplace.caller.folder / folder
    place = _runs_folder(workplace, folder)
    source = FileStore(place, workplace.files)
    names = [folder.name] if workplace.files.exists(folder / _HEAD) else source.names()
    if not names:
        raise StoreError(
            f"there is no run in {folder}",
            f"wanted folders with {_HEAD} in them, as they stand in .envmgr/runs of a project",
            "copy that folder here from the other machine",
        )
    return tuple(_import(workplace, source, place / name) for name in names)


def _runs_folder(workplace: Workplace, folder: Path) -> Path:
    if workplace.files.exists(folder / _HEAD):
        return folder.parent
    inside = folder / ".envmgr" / "runs"
    return inside if workplace.files.is_folder(inside) else folder


def _import(workplace: Workplace, source: FileStore, place: Path) -> ImportedRun:
    files, target = workplace.files, workplace.project.runs / place.name
    try:
        run = source.load(place.name)
    except StoreError as error:
        return ImportedRun(run=place.name, problem=f"{error.what}: {error.why}")
    wanted = [path for path in _parts(workplace, place) if files.is_plain_file(path)]
    fixed = [path for path in wanted if path.parent.name != _PROVEN]
    clashing = [path.name for path in fixed if _differs(workplace, path, target / path.relative_to(place))]
    told = ImportedRun(run=run.record.id, host=run.record.host, cells=len(run.record.plan.cells), damaged=run.damaged)
    if clashing:
        problem = f"another run of that name is here: {', '.join(clashing[:3])} differ"
        return told.model_copy(update={"problem": problem})
    new = [path for path in wanted if not files.exists(target / path.relative_to(place))]
    for path in sorted(new, key=lambda path: _LAST.index(path.name) if path.name in _LAST else -1):
        files.copy(path, target / path.relative_to(place))
    return told.model_copy(update={"added": len(new)})


def _parts(workplace: Workplace, place: Path) -> Iterator[Path]:
    yield from (place / _FINISHED, *workplace.files.list(place / "logs"), *workplace.files.list(place / "locks"))
    for name in ("results", "set-aside", "extensions", _PROVEN):
        yield from (path for path in workplace.files.list(place / name) if path.suffix == ".json")
    yield place / _HEAD


def _differs(workplace: Workplace, one: Path, other: Path) -> bool:
    if one.suffix != ".json" or not workplace.files.exists(other):
        return False
    return workplace.files.read(one) != workplace.files.read(other)
