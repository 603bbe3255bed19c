"""What a host of a fleet does with what is sent to it: builds, asks for devices, measures. All that comes is data."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from envmgr.app.confining import outside, writable_of
from envmgr.app.env_guard import EnvGuard, Room, Seen, Visitor
from envmgr.app.laying import lay_data
from envmgr.app.place import HostPlace
from envmgr.app.probing import list_devices
from envmgr.app.sharing import shared
from envmgr.app.surrounding import CellPlaces, surroundings_in, variables_in
from envmgr.backends import invariants
from envmgr.cell.run import Measurement, lay_request, measure_cell, not_run, result_of
from envmgr.env.build import build_once
from envmgr.env.content import BuildRequest, HistoryContent, LockedContent, Places, Switches, Tools
from envmgr.env.identity import env_key
from envmgr.errors import EnvmgrError, FleetError
from envmgr.model.cell import Cell
from envmgr.model.env import DeviceListing, Env
from envmgr.model.host import HostFacts, InstallerSettings, Interpreter
from envmgr.model.manifest import Manifest
from envmgr.model.outcome import Outcome, Phase
from envmgr.model.platform import Platform
from envmgr.model.result import CellResult, SetAside
from envmgr.ports import at_once

_LOG_KEPT = 4_000_000


@dataclass(frozen=True, slots=True)
class EnvOrder:
    """An env that a host is to have: of which version set, from what, on which of its own interpreters."""

    manifest: Manifest
    variant: str
    content: LockedContent | HistoryContent
    interpreter: Interpreter
    platform: Platform

    @property
    def label(self) -> str:
        """The version set as a user types it."""
        return self.manifest.name if self.variant == "default" else f"{self.manifest.name}@{self.variant}"


@dataclass(frozen=True, slots=True)
class EnvAnswer:
    """What became of an env on a host: the env and its backend's devices, or the error that stopped it."""

    host: str
    label: str
    env: Env | None = None
    listing: DeviceListing | None = None
    error: EnvmgrError | None = None


@dataclass(frozen=True, slots=True)
class CellOrder:
    """One process of one cell: the env that it wants, and the text of the runner with its digest."""

    env: EnvOrder
    cell: Cell
    round: int
    runner: str
    digest: str


@dataclass(frozen=True, slots=True)
class CellAnswer:
    """The result of one process on a host, with what it wrote, and what was found of its env too late for others."""

    host: str
    cell: Cell
    result: CellResult
    log: str
    late: tuple[SetAside, ...] = ()


@dataclass(frozen=True, slots=True)
class Host:
    """What the worker's own process has found out about its host, once, before anything was sent.

    With `stand_in` no env is built: that interpreter answers for every env. `together` lets cells run beside those of
    other workers on this machine; else one cell runs at a time, whoever sent it.
    """

    place: HostPlace
    facts: HostFacts
    settings: InstallerSettings
    stand_in: Path | None = None
    together: bool = False


_HERE: list[tuple[Host, EnvGuard]] = []


def settle(host: Host) -> None:
    """Make this process work for a host."""
    _HERE[:] = [(host, EnvGuard(host.place))]


def prepare(order: EnvOrder) -> EnvAnswer:
    """Build an env from this host's own cache and ask its backend for devices; an error is an answer."""
    host, guard = _here()
    try:
        env, fresh = _env(host, guard, order)
        listing = list_devices(host.place, env, order.manifest, host.facts) if order.manifest.backend else None
    except EnvmgrError as error:
        return EnvAnswer(host.facts.name, order.label, error=error)
    if fresh:
        guard.accept(env.path)
    return EnvAnswer(host.facts.name, order.label, env, listing)


def look(order: EnvOrder) -> tuple[SetAside, ...]:
    """Look once more at an env in which cells have been, and return what was found too late for their results."""
    host, guard = _here()
    guard.look(str(_request(host, order).folder))
    return guard.late()


def measure(order: CellOrder) -> CellAnswer:
    """Run one process of a cell and return its result with its log, whatever becomes of it."""
    host, guard = _here()
    place, cell = host.place, order.cell
    if hashlib.sha256(order.runner.encode()).hexdigest() != order.digest:
        raise FleetError(f"the runner {cell.runner} was damaged on its way", "its digest differs", "run it again")
    with place.files.scratch("cell") as scratch:
        try:
            env, _ = _env(host, guard, order.env)
        except EnvmgrError as error:
            reason = " ".join(f"{error.what}: {error.why}".split())
            failed = CellResult(
                cell=cell.id, round=order.round, outcome=Outcome.BUILD_FAILED, phase=Phase.BUILD, reason=reason
            )
            return CellAnswer(host.facts.name, cell, failed, "")
        try:
            run = _prepared(place, order, scratch)
        except (EnvmgrError, OSError) as error:
            return CellAnswer(host.facts.name, cell, not_run(cell, order.round, error), "")
        try:
            ended, seen = _within(host, guard, order, env, run)
        except (EnvmgrError, OSError) as error:  # what was seen of the env is told with another of its cells
            return CellAnswer(host.facts.name, cell, not_run(cell, order.round, error), "", guard.late())
        result = seen.told_in(result_of(ended))
        text = (place.files.read(scratch / "log") or "")[-_LOG_KEPT:]
    result = result.model_copy(update={"host": host.facts.name})
    return CellAnswer(host.facts.name, cell, result, text, guard.late())


def _within(
    host: Host, guard: EnvGuard, order: CellOrder, env: Env, run: Callable[[Room], Measurement]
) -> tuple[Measurement, Seen]:
    """Run a cell in an env of this host, alone on its machine unless cells of others may run beside it."""
    files, folders = host.place.files, host.place.folders
    with nullcontext() if host.together else files.lock(folders.cache / "measuring.lock"):
        if host.stand_in is not None:
            return run(Room(env, writable=False, turn=at_once)), Seen()
        return guard.measure(env.path, Visitor(order.cell.runner, order.cell.id, order.round), run)


def _prepared(place: HostPlace, order: CellOrder, scratch: Path) -> Callable[[Room], Measurement]:
    """Lay out what a cell needs in a folder of scratch, and return what runs it in an env."""
    cell, manifest = order.cell, order.env.manifest
    at = CellPlaces(
        home=scratch / "home",
        folder=scratch / "work",
        runner=scratch / f"{cell.runner}.py",
        log=scratch / "log",
        log_name=f"logs/{cell.id}-{order.round}.log",
    )
    for each in (at.home, at.folder):
        place.files.make_folder(each)
    place.files.write(at.runner, order.runner)
    lay_data(place, manifest, at.home)
    lay_request(cell, at.folder, place.files)

    def run(room: Room) -> Measurement:
        variables = variables_in(place, room.env, manifest, cell, at.home)
        inside = writable_of(place, room.env) if room.writable else ()
        around = surroundings_in(place, room.env, at, variables, (*outside(place), *inside))
        return measure_cell(cell, order.round, around, room.turn)

    return run


def _here() -> tuple[Host, EnvGuard]:
    if not _HERE:
        raise FleetError(
            "this worker is not one of envmgr", "it was started by other means", "envmgr fleet worker ADDRESS"
        )
    return _HERE[0]


def _env(host: Host, guard: EnvGuard, order: EnvOrder) -> tuple[Env, bool]:
    """Return the env that is ordered, in the guard's care, and whether it was built just now."""
    if host.stand_in is not None:
        return _stood_in(host.stand_in, order), False
    place = host.place
    tools = Tools(place.process, place.files, place.clock, place.listener)

    def made() -> tuple[Env, bool]:
        return build_once(shared(_request(host, order), place), tools, invariants)

    env, fresh = made()
    if fresh or env.path not in guard:
        env = guard.take(env.path, env, lambda: made()[0], fresh=fresh)
    return env, fresh


def _stood_in(python: Path, order: EnvOrder) -> Env:
    return Env(
        key=env_key(order.content.digest, order.interpreter, order.platform),
        manifest=order.manifest.name,
        variant=order.variant,
        path=str(python.parent),
        python=str(python),
        interpreter=order.interpreter,
        lock_digest=order.content.digest,
        resolved={},
    )


def _request(host: Host, order: EnvOrder) -> BuildRequest:
    place, folders = host.place, host.place.folders
    return BuildRequest(
        manifest=order.manifest.name,
        variant=order.variant,
        key=env_key(order.content.digest, order.interpreter, order.platform),
        interpreter=order.interpreter,
        content=order.content,
        places=Places(
            envs=folders.envs, uv_cache=place.uv_cache, pip_cache=folders.cache / "pip", app_data=folders.app_data
        ),
        switches=Switches(uv=str(place.uv), settings=host.settings, caller=place.caller.environment),
    )
