"""Points as cells: built as a matrix builds, measured in one run round by round, kept in the project's store."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from envmgr.app.bisecting.lines import Spot
from envmgr.app.bisecting.standing import Standing, revisions_of
from envmgr.app.building import Builder, BuildWishes, Built
from envmgr.app.guarding import GuardedEnvs
from envmgr.app.hosting import true_settings
from envmgr.app.installed import site_packages
from envmgr.app.judging import judged_cells
from envmgr.app.locking import LockMaker
from envmgr.app.matrix import measure_run, refusal_for
from envmgr.app.past import keep_locks
from envmgr.app.planning import Known, Selection, make_plan
from envmgr.app.probing import list_devices
from envmgr.app.runners import runner_facts
from envmgr.app.version import version
from envmgr.app.workplace import Workplace
from envmgr.cell.request import TargetFacts
from envmgr.errors import EnvmgrError, UsageError
from envmgr.host.match import match
from envmgr.manifest.expand import target
from envmgr.manifest.faults import suggest
from envmgr.model.cell import Cell
from envmgr.model.host import HostFacts
from envmgr.model.manifest import Manifest, Matrix, MatrixEntry
from envmgr.model.result import JudgedCell, Run, RunRecord
from envmgr.store.results import new_run_id

_VARIANT = "default"


@dataclass(frozen=True, slots=True)
class CellWishes:
    """What is measured at each point: a runner with parameters on a device, in how many processes."""

    runner: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    device: str | None = None
    processes: int = 1
    timeout: float = 600.0
    command: tuple[str, ...] = ()


class PointCells:
    """Builds and measures points of a line."""

    def __init__(self, workplace: Workplace, facts: HostFacts, wishes: CellWishes) -> None:
        runners = runner_facts(workplace)
        if wishes.runner not in runners:
            raise UsageError(f"there is no runner {wishes.runner!r}", "", suggest(wishes.runner, runners))
        self.wishes = wishes
        self._needs_device = runners[wishes.runner].needs_device
        self._workplace = workplace
        self._facts = facts
        self._locks = LockMaker(workplace, facts, true_settings(workplace))
        self._builder = Builder(workplace, facts, BuildWishes(others=False))
        self._built: dict[str, Built] = {}

    def stand(self, spot: Spot, names: tuple[str, ...]) -> Standing:
        """Lock and build the environment of a point; no lock is written into the project."""
        try:
            env = self._build(spot).env
        except EnvmgrError as error:
            refusal = refusal_for(error)
            return Standing(spot.python, {}, {}, refusal.phase, refusal.reason)
        files = self._workplace.files
        told = revisions_of(files, site_packages(files, Path(env.path)), names or env.resolved, env.resolved)
        return Standing(spot.python, env.resolved, told)

    def measure(self, spots: Sequence[Spot]) -> tuple[Run, dict[str, JudgedCell]]:
        """Measure points in one run, the processes of all in turns; returns the run and the verdicts by point.

        Raises NothingSelectedError when the runner has no cell there, UsageError when it has several at one point.
        """
        place, wishes = self._workplace, self.wishes
        built = {spot.point.label: self._build(spot) for spot in spots}
        envs = GuardedEnvs(place, self._builder)
        known = [self._known(envs, each) for each in built.values()]
        names = tuple(each.target.manifest.name for each in known)
        entry = MatrixEntry(runner=wishes.runner, parameters=dict(wishes.parameters), manifests=names)
        matrix = Matrix(schema_=1, name="bisect", manifests=names, timeout=wishes.timeout, entry=(entry,))
        device = self._device(spots[0].manifest)
        plan = make_plan(place, Selection(devices=(device,) if device else ()), matrix, known, self._facts)
        cells = _one_each(plan.cells)
        now = place.clock.now()
        record = RunRecord(
            id=new_run_id(now),
            started_at=now.isoformat(timespec="seconds"),
            command=wishes.command,
            purpose="bisect",
            host=self._facts.name,
            envmgr=version(),
            plan=plan.model_copy(
                update={"processes": wishes.processes, "further": None, "cells": tuple(cells.values())}
            ),
            envs={label: each.env for label, each in envs.all.items()},
            listings={each.target.label: each.target.listing for each in known if each.target.listing},
        )
        place.store.begin(record)
        keep_locks(place, record.id, built.values())
        run = measure_run(place, record.id, envs, 1)
        judged = self.judged(run)
        return run, {label: judged[_name(label)] for label in built if _name(label) in judged}

    def judged(self, run: Run) -> dict[str, JudgedCell]:
        """Return the verdicts of a run by manifest."""
        return {each.cell.manifest: each for each in judged_cells(run)}

    def earlier(self, run_id: str, label: str) -> JudgedCell | None:
        """Return the verdict on a point in an earlier run, None if it is not there."""
        return self.judged(self._workplace.store.load(run_id)).get(_name(label))

    def _build(self, spot: Spot) -> Built:
        label = spot.point.label
        if label not in self._built:
            changes = {"name": _name(label), "device": self._device(spot.manifest)}
            manifest = spot.manifest.model_copy(update=changes)
            platform = None if manifest.step else match(manifest, _VARIANT, self._facts).platform
            if platform is None:
                self._built[label] = self._builder.build(manifest, _VARIANT)
            else:
                lock = self._locks.resolved(target(manifest, _VARIANT, platform))
                self._built[label] = self._builder.rebuild(manifest, _VARIANT, lock)
        return self._built[label]

    def _known(self, envs: GuardedEnvs, built: Built) -> Known:
        """Look after an environment, let the shelf know its manifest, and ask its backend for devices."""
        manifest = built.target.manifest
        self._workplace.shelf.stand_in(manifest)
        again = envs.build(manifest, _VARIANT, built.lock)
        listing = list_devices(self._workplace, again.env, manifest, self._facts) if manifest.backend else None
        envs.accept(built)
        python, platform = again.env.interpreter, again.target.platform
        facts = TargetFacts(manifest, _VARIANT, python.version, platform, listing=listing)
        return Known(facts, python, again.env.resolved)

    def _device(self, manifest: Manifest) -> str | None:
        """Return the device to measure on, None where the runner needs none or the backend is to choose."""
        return (self.wishes.device or manifest.device) if self._needs_device else None


def _name(label: str) -> str:
    """Return the name under which a point stands in a run: none of the project's own manifests."""
    return f"bisect-{re.sub(r'[^A-Za-z0-9._-]', '-', label)}"


def _one_each(cells: Sequence[Cell]) -> dict[str, Cell]:
    """Return the cell of each manifest; raises UsageError where one has several."""
    found: dict[str, Cell] = {}
    for cell in cells:
        other = found.setdefault(cell.manifest, cell)
        if other is not cell:
            listed = f"found {other.device_name} and {cell.device_name}"
            raise UsageError("one device is bisected on", listed, f"--device {other.device_name}")
    return found
