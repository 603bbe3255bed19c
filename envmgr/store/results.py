"""Results on disk: a folder a run, a file a result, nothing ever changed."""

from __future__ import annotations

import json
import re
import secrets
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from envmgr.errors import StoreError
from envmgr.model.finding import Finding
from envmgr.model.result import CellResult, Extension, Run, RunRecord, SetAside, extended
from envmgr.ports import Files

_SCHEMA = 1
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,120}")
_RECORD = "run.json"
_FINISHED = "finished"
_ASIDE = "set-aside"
_PROVEN = "findings"
_EXTENSIONS = "extensions"
_PARTS = ("results", "logs", "locks", _ASIDE, _PROVEN, _EXTENSIONS)
_WORTH_WAITING = 1.0
"""Seconds that a result must have taken for the disk to be waited for at once: it takes some milliseconds itself."""

Stored = TypeVar("Stored", bound=BaseModel)


def new_run_id(now: datetime) -> str:
    """Return an id that sorts by time and that two runs begun in the same second do not share."""
    return f"{now.astimezone(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"


class FileStore:
    """Keeps runs below one folder, in each `run.json`, `results/CELL-ROUND.json`, `logs/`, `locks/`, `finished`."""

    def __init__(self, folder: Path, files: Files) -> None:
        self._folder = folder
        self._files = files
        self._places: dict[str, Path] = {}

    def begin(self, record: RunRecord) -> None:
        """Write the head of a new run; a run of that name must not exist. What killed writers left elsewhere goes."""
        self._sweep()
        place = self._place(record.id) / _RECORD
        with self._locked(record.id):
            if self._files.exists(place):
                raise StoreError(f"run {record.id} exists already", f"found {place}", "begin a run under another id")
            self._files.write(place, _text(record))

    def append(self, run: str, result: CellResult) -> None:
        """Add one result; one of the same cell and round must not be there. A damaged one is put aside, not lost."""
        place = self._place(run) / f"results/{_checked(result.cell)}-{result.round}.json"
        self._demand(run)
        if self._files.exists(place):
            with self._locked(run):
                if self._files.exists(place) and self._is_damaged(place):
                    self._files.move(place, place.with_name(f"{place.name}.damaged"))
        try:
            self._files.add(place, _text(result), durable=result.elapsed >= _WORTH_WAITING)
        except FileExistsError:
            what = f"run {run} has a result of cell {result.cell}, round {result.round}, already"
            raise StoreError(what, f"found {place}", "results are only ever added: begin a new run") from None

    def set_aside(self, run: str, found: SetAside) -> None:
        """Add that an env was found changed after results of cells in it had been stored."""
        self._demand(run)
        self._files.write(self._place(run) / _ASIDE / f"{secrets.token_hex(4)}.json", _text(found))

    def extend(self, run: str, extension: Extension) -> None:
        """Add to the head of a run what a host that joined it later can do."""
        self._demand(run)
        place = self._place(run) / _EXTENSIONS
        with self._locked(run):
            self._files.write(place / f"{len(self._files.list(place)):04}.json", _text(extension))

    def prove(self, run: str, finding: Finding) -> None:
        """Add what experiments came to after the run, for the cells whose findings have that id."""
        self._demand(run)
        self._files.write(self._place(run) / _PROVEN / f"{_checked(finding.id)}.json", _text(finding))

    def finish(self, run: str) -> None:
        """Mark a run as complete, with every result of it on the disk."""
        self._demand(run)
        self._files.settle()
        self._files.write(self._place(run) / _FINISHED, f'{{"schema": {_SCHEMA}}}\n')

    def names(self) -> tuple[str, ...]:
        """Return the ids of all runs, the oldest first."""
        folders = (path for path in self._files.list(self._folder) if _NAME.fullmatch(path.name))
        return tuple(sorted(path.name for path in folders if self._files.exists(path / _RECORD)))

    def head(self, run: str) -> RunRecord:
        """Return what was planned in a run, without its results; raises StoreError as `load` does."""
        return self._head(run)[0]

    def _head(self, run: str) -> tuple[RunRecord, list[str]]:
        self._demand(run)
        place = self._place(run)
        record = self._read(place / _RECORD, RunRecord)
        extensions, damaged = self._read_all(place / _EXTENSIONS, Extension)
        return extended(record, extensions), damaged

    def load(self, run: str) -> Run:
        """Return a run with every result that can be read; files that cannot are named with the reason.

        Raises StoreError when there is no such run, or its head cannot be read.
        """
        place = self._place(run)
        record, damaged_first = self._head(run)
        results, damaged = self._read_all(place / "results", CellResult)
        aside, damaged_too = self._read_all(place / _ASIDE, SetAside)
        proven, damaged_last = self._read_all(place / _PROVEN, Finding)
        return Run(
            record=record,
            results=tuple(sorted(results, key=lambda result: (result.cell, result.round))),
            finished=self._files.exists(place / _FINISHED),
            damaged=(*damaged_first, *damaged, *damaged_too, *damaged_last),
            set_aside=tuple(aside),
            proven={finding.id: finding for finding in proven},
        )

    def log_path(self, run: str, cell: str, round_number: int) -> Path:
        """Return where the log of one process of a cell is kept."""
        return self._place(run) / f"logs/{_checked(cell)}-{round_number}.log"

    def lock_path(self, run: str, digest: str) -> Path:
        """Return where a run keeps the lock that one of its envs was built from, by the lock's digest."""
        return self._place(run) / "locks" / f"{_checked(digest)}.txt"

    def _sweep(self) -> None:
        """Remove what killed writers left in runs that nobody has finished; in the others they wrote to the end."""
        for place in self._files.list(self._folder):
            whole = all(self._files.exists(place / name) for name in (_RECORD, _FINISHED))
            if self._files.is_folder(place) and not whole:
                for folder in (place, *(place / name for name in _PARTS)):
                    self._files.sweep(folder)

    def _place(self, run: str) -> Path:
        if run not in self._places:
            self._places[run] = self._folder / _checked(run)
        return self._places[run]

    def _demand(self, run: str) -> None:
        if not self._files.exists(self._place(run) / _RECORD):
            latest = self.names()[-3:]
            hint = f"the latest runs are: {', '.join(latest)}" if latest else "there is no run yet: envmgr matrix run"
            raise StoreError(f"there is no run {run}", f"looked in {self._folder}", hint)

    def _locked(self, run: str) -> AbstractContextManager[None]:
        return self._files.lock(self._place(run) / ".lock")

    def _is_damaged(self, place: Path) -> bool:
        """Tell whether a result can be read neither by this program nor by a newer one."""
        try:
            self._read(place, CellResult)
        except StoreError:
            return _schema_of(self._files.read(place) or "") <= _SCHEMA
        return False

    def _read_all(self, folder: Path, kind: type[Stored]) -> tuple[list[Stored], list[str]]:
        """Return what the files of a folder hold, and of those that cannot be read the names with the reasons."""
        found: list[Stored] = []
        damaged: list[str] = []
        for path in self._files.list(folder):
            if path.suffix != ".json" or path.name.startswith("."):
                continue
            try:
                found.append(self._read(path, kind))
            except StoreError as error:
                damaged.append(f"{path.name}: {error.why}")
        return found, damaged

    def _read(self, path: Path, kind: type[Stored]) -> Stored:
        """Return what a file holds; a StoreError tells whether it is newer than this program or damaged."""
        what, hint = f"{path.name} of a run cannot be read", f"move it away, or restore it: {path}"
        try:
            text = self._files.read(path)
        except OSError as error:
            raise StoreError(what, str(error), hint) from error
        try:
            return kind.model_validate_json(text or "")
        except ValidationError as error:
            found = _schema_of(text or "")
            if found > _SCHEMA:
                why = f"wanted schema {_SCHEMA} or older, found {found}"
                raise StoreError(what, why, "a newer envmgr wrote it: update this one") from error
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(part) for part in first["loc"])
            raise StoreError(what, f"damaged: {place + ': ' if place else ''}{first['msg']}", hint) from error


def _schema_of(text: str) -> int:
    """Return the schema that a damaged or newer file names, 0 where it names none."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return 0
    schema = data.get("schema") if isinstance(data, dict) else None
    return schema if isinstance(schema, int) else 0


def _checked(name: str) -> str:
    """Return a name that is safe as a part of a path; what the user types must not lead out of the store."""
    if not _NAME.fullmatch(name):
        why = f"wanted letters, digits, dots, dashes and underscores, found {name[:80]!r}"
        raise StoreError("that is no name of a run or a cell", why, "envmgr matrix show lists the runs")
    return name


def _text(noun: BaseModel) -> str:
    return noun.model_dump_json(by_alias=True, indent=1) + "\n"
