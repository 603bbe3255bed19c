"""The good end of a comparison, as people name it: a run or a cell of one, a lock, a freeze, an environment, a date."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from packaging.utils import canonicalize_name

from envmgr.app.contents import read_contents
from envmgr.app.days import day_of
from envmgr.app.diagnosing.cells import pinned_world
from envmgr.app.installed import site_packages
from envmgr.app.runs import stored_run
from envmgr.app.workplace import Workplace
from envmgr.diagnose.changes import pinned
from envmgr.diagnose.requirement import pins
from envmgr.errors import LockError, UsageError
from envmgr.lock.parse import parse
from envmgr.model.finding import World
from envmgr.model.host import HostFacts
from envmgr.model.result import Run
from envmgr.store.query import LATEST, find_cell

_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_VERSION = re.compile(r"^version(?:_info)?\s*=\s*(\d+\.\d+\.\d+)", re.MULTILINE)


def good_end(workplace: Workplace, text: str, bad: World, facts: HostFacts) -> tuple[World, bool]:
    """Return the world of a good end, and whether it is loose: only what its requirements give tells its versions.

    `bad` is the other end: what the good one does not tell is as there. Raises UsageError for what is none.
    """
    if _DATE.fullmatch(text):
        return bad.model_copy(update={"exclude_newer": day_of(text).isoformat()}), True
    path = workplace.caller.folder / Path(text).expanduser()
    if workplace.files.is_folder(path):
        return _environment(workplace, path, bad, facts), False
    if workplace.files.exists(path):
        return _written(workplace, path, bad), False
    name, _, cell_name = text.partition("#")
    run = stored_run(workplace, name or LATEST)
    return _of_run(workplace, run, cell_name, facts), False


def _of_run(workplace: Workplace, run: Run, cell_name: str, facts: HostFacts) -> World:
    """Return the world of one cell of a run, or of all where they are in one env."""
    cells = [find_cell(run.record.plan, cell_name)] if cell_name else list(run.record.plan.cells)
    worlds = {run.env_name(cell): cell for cell in cells if run.env_name(cell)}
    if len(worlds) != 1:
        raise UsageError(
            f"run {run.record.id} has {len(worlds)} environments",
            "wanted the one that is the good end",
            f"--good {run.record.id}#CELL",
        )
    (cell,) = worlds.values()
    world = pinned_world(workplace, run, cell, facts)
    if world is None:
        raise UsageError(f"{cell.name} has no environment in run {run.record.id}", "it could not be built", "--good")
    return world


def _environment(workplace: Workplace, path: Path, bad: World, facts: HostFacts) -> World:
    files = workplace.files
    contents = read_contents(files, site_packages(files, path))
    if not contents.distributions:
        raise UsageError(f"{path} is no environment", "found no installed distribution in it", "--good VENV")
    versions = {each.name: each.version for each in contents.distributions if each.name not in _SEEDS}
    named = _VERSION.search(files.read(path / "pyvenv.cfg") or "")
    python = bad.python
    if named:
        minor = ".".join(named[1].split(".")[:2])
        python = named[1] if named[1] in {one.version for one in facts.interpreters} else minor
    return pinned(bad, python, versions)


_SEEDS = frozenset({"pip", "setuptools", "wheel"})
"""What an environment has from its making: no part of what was asked for."""


def _written(workplace: Workplace, path: Path, bad: World) -> World:
    """Return the world of a lock or of a freeze."""
    text = workplace.files.read(path) or ""
    try:
        lock = parse(text, str(path))
    except LockError:
        return pinned(bad, bad.python, _frozen(text.splitlines(), path))
    return pinned(bad, lock.python, {canonicalize_name(each.name): each.version for each in lock.distributions})


def _frozen(lines: Iterable[str], path: Path) -> dict[str, str]:
    told = [re.split(r"\s+#|\s*\\$|\s--hash", line)[0].strip() for line in lines]
    found = pins(line for line in told if line and not line.startswith(("#", "-")))
    if not found:
        raise UsageError(f"{path} is no good end", "wanted a lock, or lines like NAME==VERSION", "pip freeze > FILE")
    return found
