"""A cell of a run as a question: the world that it was measured in, and its runner as the probe."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import envmgr.cell
from envmgr.app.diagnosing.cases import place_here, world_for
from envmgr.app.experiments.standpoint import Place
from envmgr.app.hosting import true_settings
from envmgr.app.judging import judged_cells
from envmgr.app.laying import lay_data
from envmgr.app.past import lock_in_run
from envmgr.app.probing import selection_of
from envmgr.app.runs import stored_run
from envmgr.app.workplace import Workplace
from envmgr.backends import api_of
from envmgr.cell.script import words_to_run
from envmgr.diagnose.changes import pinned
from envmgr.diagnose.hunt import Probe
from envmgr.env.surroundings import CellPlace, CellWishes, cell_environment
from envmgr.errors import UsageError
from envmgr.host.surroundings import system_of
from envmgr.manifest.faults import suggest
from envmgr.model.cell import Cell
from envmgr.model.env import Device
from envmgr.model.finding import World
from envmgr.model.host import HostFacts
from envmgr.model.manifest import Manifest
from envmgr.model.outcome import NEUTRAL, Outcome
from envmgr.model.result import JudgedCell, Run
from envmgr.store.query import LATEST, find_cell

_SCRIPT = Path(envmgr.cell.__file__).with_name("probes") / "runner_as_probe.py"
_INSTALLERS = ("PIP_", "UV_")


def names_a_run(workplace: Workplace, text: str | None) -> bool:
    """Tell whether a word on the command line means a run, or a cell of one, and not a manifest."""
    if not text or (text.partition("@")[0] in workplace.shelf and "#" not in text):
        return False
    return "#" in text or text == LATEST or any(name.startswith(text) for name in workplace.store.names())


def cells_named(workplace: Workplace, text: str) -> tuple[Run, tuple[JudgedCell, ...]]:
    """Return the run and the cells that are meant: the one of `RUN#CELL`, or of `RUN` all that did not pass."""
    name, mark, cell_name = text.partition("#")
    run = stored_run(workplace, name or LATEST)
    judged = judged_cells(run)
    if mark:
        cell = find_cell(run.record.plan, cell_name)
        return run, tuple(each for each in judged if each.cell.id == cell.id)
    return run, tuple(each for each in judged if _has_failed(each))


def _has_failed(judged: JudgedCell) -> bool:
    return judged.observed is not None and judged.observed is not Outcome.PASSED and judged.observed not in NEUTRAL


def manifest_of(workplace: Workplace, cell: Cell) -> Manifest:
    """Return the manifest of a cell as it is now; raises UsageError when it is gone."""
    if cell.manifest not in workplace.shelf:
        raise UsageError(
            f"there is no manifest {cell.manifest!r}",
            "the run was measured with one; it is no longer in this project",
            suggest(cell.manifest, workplace.shelf),
        )
    return workplace.shelf[cell.manifest]


def place_of_cells(workplace: Workplace, facts: HostFacts, room: Path, jobs: int | None = None) -> Place:
    """Return a place like that of cells: a HOME and a folder of its own, and of the caller's variables the harmless."""
    place = place_here(workplace, facts, jobs)
    home, folder = room / "home", room / "work"
    for each in (home, folder):
        workplace.files.make_folder(each)
    caller = workplace.caller.environment
    harmless = set(_cell_variables(workplace, {})) & set(caller)
    environment = {
        name: value for name, value in caller.items() if name in harmless or name.startswith((*_INSTALLERS, "PATH"))
    }
    settings = true_settings(workplace)
    if settings.index_url and not {"UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL"} & set(environment):
        environment["UV_DEFAULT_INDEX"] = settings.index_url
    if settings.find_links and not {"UV_FIND_LINKS", "PIP_FIND_LINKS"} & set(environment):
        environment["UV_FIND_LINKS"] = ",".join(settings.find_links)
    environment |= {"HOME": str(home), "UV_CACHE_DIR": str(workplace.uv_cache)}
    return replace(place, environment=environment, home=home, folder=folder)


def probe_of(workplace: Workplace, run: Run, judged: JudgedCell, room: Path, device: str | None = None) -> Probe:
    """Return the runner of a cell as a probe with its parameters, on its device or another; it is named by its id."""
    cell, manifest = judged.cell, manifest_of(workplace, judged.cell)
    chosen = Device(id=device, api=api_of(device)) if device else cell.device
    runner = workplace.shelf.runners.get(cell.runner)
    if runner is None:
        raise UsageError(
            f"there is no runner {cell.runner!r}", "the run was measured with one", "put it back into runners/"
        )
    lay_data(workplace, manifest, room / "home")
    request = {
        "protocol": 1,
        "cell": cell.id,
        "device": (chosen.id if chosen else cell.device_asked) or None,
        "parameters": cell.parameters,
    }
    place = room / cell.id
    workplace.files.make_folder(place)
    workplace.files.write(place / "in.json", json.dumps(request))
    backend = {**workplace.host_variables(manifest.backend), **selection_of(manifest, chosen)}
    source = workplace.files.read(runner) or ""
    first, *others = words_to_run(runner, source)
    reference = _reference(workplace, run, judged, place)
    return Probe(
        name=cell.id,
        command=("-I", str(_SCRIPT), first, str(place / "in.json"), reference, *others),
        source=source,
        given=_cell_variables(workplace, backend),
        kin=judged.finding.id if judged.finding else judged.reason,
    )


def pinned_world(workplace: Workplace, run: Run, cell: Cell, facts: HostFacts) -> World | None:
    """Return the world in which exactly what the run had is installed, None where its env could not be built."""
    env = run.record.envs.get(run.env_name(cell))
    if env is None:
        return None
    here = {one.version for one in facts.interpreters}
    version = env.interpreter.version if env.interpreter.version in here else env.interpreter.minor
    return pinned(asked_world(workplace, run, cell, version), version, env.resolved)


def asked_world(workplace: Workplace, run: Run, cell: Cell, python: str = "") -> World:
    """Return the world that the cell's manifest asks for, on the Python of the run."""
    manifest = manifest_of(workplace, cell)
    lock = lock_in_run(workplace, run, run.env_name(cell))
    minor = python or (lock.python if lock else ".".join(cell.python.split(".")[:2]))
    return world_for(manifest, minor)


def named(judged: Sequence[JudgedCell], ids: Sequence[str]) -> tuple[str, ...]:
    """Return the names of cells by their ids, those of one name with the id besides."""
    names = {each.cell.id: each.cell.name for each in judged}
    alike = {name for name in names.values() if list(names.values()).count(name) > 1}
    return tuple(f"{names[one]} ({one})" if names[one] in alike else names[one] for one in ids)


def _cell_variables(workplace: Workplace, backend: dict[str, str]) -> dict[str, str]:
    """Return the variables of a cell, with `{venv}` and `{home}` for its folders.

    The manifest's own are not in it, nor those that Python does not heed when it is isolated, as a runner's is.
    """
    place = CellPlace(Path("{venv}"), Path("{home}"), workplace.base, system_of(workplace.caller.system))
    found = cell_environment(workplace.caller.environment, place, CellWishes(backend=backend))
    return {name: value for name, value in found.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}


def _reference(workplace: Workplace, run: Run, judged: JudgedCell, place: Path) -> str:
    """Write down the numbers that a cell's must agree with, if others decide that, and return the file's path."""
    if judged.parity is None or judged.parity.verdict == "not-compared":
        return ""
    reports = [one.report for one in run.results if one.cell == judged.parity.reference and one.report]
    if not reports:
        return ""
    outputs = {name: output.model_dump(mode="json") for name, output in reports[0].outputs.items()}
    path = place / "reference.json"
    workplace.files.write(path, json.dumps({"outputs": outputs, "tolerance": judged.cell.tolerance}))
    return str(path)
