"""Points asked by a runner: built as a matrix builds, measured as a cell, judged by outcome or by metric."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from envmgr.app.bisecting_lines import Spot
from envmgr.app.bisecting_standing import Bounds, Standing, revisions_of, site_packages
from envmgr.app.building import Builder, BuildWishes, Built
from envmgr.app.guarding import GuardedEnvs
from envmgr.app.hosting import true_settings
from envmgr.app.judging import judged_cells
from envmgr.app.locking import LockMaker
from envmgr.app.matrix import measure_run, refusal_for
from envmgr.app.past import keep_locks
from envmgr.app.planning import Known, Selection, make_plan
from envmgr.app.probing import list_devices
from envmgr.app.runners import runner_facts
from envmgr.app.version import version
from envmgr.app.watching import numbers_apart
from envmgr.app.workplace import Workplace
from envmgr.cell.request import TargetFacts
from envmgr.errors import EnvmgrError, NothingSelectedError, UsageError
from envmgr.host.match import match
from envmgr.manifest.expand import target
from envmgr.manifest.faults import suggest
from envmgr.model.bisection import Trial
from envmgr.model.cell import Cell
from envmgr.model.comparison import Verdict
from envmgr.model.host import HostFacts
from envmgr.model.manifest import Manifest, Matrix, MatrixEntry
from envmgr.model.outcome import NEUTRAL, Outcome
from envmgr.model.result import CellResult, JudgedCell, Run, RunRecord
from envmgr.stats.sides import apart, is_on_good_side
from envmgr.store.query import find_cell
from envmgr.store.results import new_run_id

_VARIANT = "default"
_PATIENCE = 2
_UNTOLD = {*NEUTRAL, Outcome.BUILD_FAILED, Outcome.GONE}


@dataclass(frozen=True, slots=True)
class RunnerWishes:
    """What is measured at each point, and what makes it bad: a metric, one outcome, or any that is not passed."""

    runner: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    device: str | None = None
    metric: str | None = None
    outcome: Outcome | None = None
    processes: int = 1
    timeout: float = 600.0
    command: tuple[str, ...] = ()


class RunnerOracle:
    """Tells of each point what a runner comes to there; every run is kept in the project's store."""

    def __init__(self, workplace: Workplace, facts: HostFacts, wishes: RunnerWishes) -> None:
        if wishes.runner not in workplace.shelf.runners:
            known = workplace.shelf.runners
            raise UsageError(f"there is no runner {wishes.runner!r}", "", suggest(wishes.runner, known))
        self._workplace = workplace
        self._facts = facts
        self._wishes = wishes
        self._locks = LockMaker(workplace, facts, true_settings(workplace))
        self._builder = Builder(workplace, facts, BuildWishes())
        self._built: dict[str, Built] = {}

    @property
    def criterion(self) -> str:
        """What makes a point bad, in words."""
        wishes = self._wishes
        if wishes.metric:
            return f"{wishes.metric} of {wishes.runner}"
        return f"outcome of {wishes.runner}: {wishes.outcome or 'not passed'}"

    @property
    def repeats(self) -> bool:
        """True where chance is ruled out by asking again; a metric's samples tell by themselves."""
        return self._wishes.metric is None

    def stand(self, spot: Spot, names: tuple[str, ...]) -> Standing:
        """Lock and build the environment of a point; no lock is written into the project."""
        try:
            built = self._build(spot.manifest)
        except EnvmgrError as error:
            refusal = refusal_for(error)
            return Standing(spot.python, {}, {}, refusal.phase, refusal.reason)
        self._built[spot.point.label] = built
        files, env = self._workplace.files, built.env
        told = revisions_of(files, site_packages(files, Path(env.path)), names or env.resolved, env.resolved)
        return Standing(spot.python, env.resolved, told)

    def ask(self, spot: Spot, standing: Standing, bounds: Bounds) -> Trial:
        """Measure the runner and judge it against the ends, as far as they are known."""
        try:
            run = self._measure(spot, self._built[spot.point.label], self._wishes.processes)
        except NothingSelectedError as error:
            reason = f"{self._wishes.runner} cannot be measured on {self._wishes.device}: {error.why}"
            return Trial(point=spot.point, verdict="skipped", reason=reason, resolved=dict(standing.resolved))
        judged = _single(run)
        trial = Trial(
            point=spot.point,
            verdict="skipped",
            phase=judged.phase,
            reason=judged.reason or f"{judged.observed}",
            python=standing.python,
            resolved=dict(standing.resolved),
            revisions=dict(standing.revisions),
            run=run.record.id,
        )
        if self._wishes.metric:
            return self._by_metric(spot, trial, judged, bounds)
        return self._by_outcome(trial, judged, bounds)

    def _by_outcome(self, trial: Trial, judged: JudgedCell, bounds: Bounds) -> Trial:
        observed, wanted = judged.observed, self._wishes.outcome
        if observed is Outcome.PASSED:
            apart_from_good = self._numbers(judged, bounds.good)
            if apart_from_good and wanted in {None, Outcome.WRONG}:
                return trial.model_copy(update={"verdict": "bad", "reason": apart_from_good})
            return trial.model_copy(update={"verdict": "good", "reason": ""})
        if observed in _UNTOLD or (wanted is not None and observed is not wanted):
            return trial.model_copy(update={"reason": f"{observed}: {judged.reason}"})
        return trial.model_copy(update={"verdict": "bad", "reason": f"{observed}: {judged.reason}"})

    def _numbers(self, judged: JudgedCell, good: Trial | None) -> str:
        """Return by how much the numbers differ from those of the good end, empty where they agree."""
        if good is None or not good.run:
            return ""
        then = _single(self._workplace.store.load(good.run))
        return "; ".join(numbers_apart([(then, judged)]))

    def _by_metric(self, spot: Spot, trial: Trial, judged: JudgedCell, bounds: Bounds) -> Trial:
        """Judge the metric; where the samples do not tell, measure as many processes again, twice at most."""
        if judged.observed is not Outcome.PASSED:
            return trial.model_copy(update={"reason": f"{judged.observed}: {judged.reason}"})
        results = judged.results
        for patience in range(_PATIENCE, -1, -1):
            trial = self._with_samples(trial, results, bounds.good)
            side = _side(trial, bounds)
            if side is not None:
                return trial.model_copy(update={"verdict": "good" if side else "bad", "reason": ""})
            if patience:
                again = self._measure(spot, self._built[spot.point.label], self._wishes.processes)
                results = (*results, *again.results)
        return trial.model_copy(update={"reason": "its samples lie on neither side beyond doubt"})

    def _with_samples(self, trial: Trial, results: tuple[CellResult, ...], good: Trial | None) -> Trial:
        samples = tuple(found for result in results if (found := _values(result, self._wishes.metric or "")))
        if not samples:
            known = sorted({name for each in results if each.report for name in each.report.metrics})
            raise UsageError(
                f"runner {self._wishes.runner} has no metric {self._wishes.metric!r}",
                f"wanted positive numbers; it tells: {', '.join(['seconds', 'first_call', 'peak_memory', *known])}",
                "--metric seconds",
            )
        middle = median(median(each) for each in samples)
        ratio = middle / good.median if good and good.median else None
        return trial.model_copy(update={"samples": samples, "median": middle, "ratio": ratio})

    def _build(self, manifest: Manifest) -> Built:
        platform = None if manifest.step else match(manifest, _VARIANT, self._facts).platform
        if platform is None:
            return self._builder.build(manifest, _VARIANT)
        lock = self._locks.resolved(target(manifest, _VARIANT, platform))
        return self._builder.rebuild(manifest, _VARIANT, lock)

    def _device(self, manifest: Manifest) -> str | None:
        """Return the device to measure on, None where the runner needs none or the backend is to choose."""
        known = runner_facts(self._workplace)[self._wishes.runner]
        return (self._wishes.device or manifest.device) if known.needs_device else None

    def _measure(self, spot: Spot, built: Built, processes: int) -> Run:
        place, wishes = self._workplace, self._wishes
        device = self._device(spot.manifest)
        manifest = spot.manifest.model_copy(update={"device": device})
        place.shelf.stand_in(manifest)
        envs = GuardedEnvs(place, self._builder)
        envs.build(manifest, _VARIANT, built.lock)
        listing = list_devices(place, built.env, manifest, self._facts) if manifest.backend else None
        envs.accept(built)
        known = Known(
            TargetFacts(manifest, _VARIANT, built.env.interpreter.version, built.target.platform, listing=listing),
            built.env.interpreter,
            built.env.resolved,
        )
        matrix = Matrix(
            schema_=1,
            name="bisect",
            manifests=(manifest.name,),
            timeout=wishes.timeout,
            entry=(MatrixEntry(runner=wishes.runner, parameters=dict(wishes.parameters), manifests=(manifest.name,)),),
        )
        plan = make_plan(place, Selection(devices=(device,) if device else ()), matrix, (known,), self._facts)
        plan = plan.model_copy(update={"processes": processes, "cells": _one(plan.cells)})
        now = place.clock.now()
        record = RunRecord(
            id=new_run_id(now),
            started_at=now.isoformat(timespec="seconds"),
            command=wishes.command,
            host=self._facts.name,
            envmgr=version(),
            plan=plan,
            envs={built.target.label: built.env},
            listings={built.target.label: listing} if listing else {},
        )
        place.store.begin(record)
        keep_locks(place, record.id, (built,))
        return measure_run(place, record.id, envs, 1)


def _one(cells: tuple[Cell, ...]) -> tuple[Cell, ...]:
    """Return the one cell that is measured; raises UsageError for several."""
    if len(cells) > 1:
        listed = ", ".join(cell.device_name for cell in cells)
        raise UsageError("one device is bisected on", f"found {listed}", f"--device {cells[0].device_name}")
    return cells


def _single(run: Run) -> JudgedCell:
    cell = find_cell(run.record.plan, run.record.plan.cells[0].id)
    return next(each for each in judged_cells(run) if each.cell.id == cell.id)


def _values(result: CellResult, metric: str) -> tuple[float, ...]:
    """Return one process's values of a metric; what is not positive is none."""
    report = result.report
    if report is None or result.outcome is not Outcome.PASSED:
        return ()
    if metric == "seconds":
        found: Any = report.samples
    elif metric == "first_call":
        found = report.first_call
    elif metric == "peak_memory":
        found = result.peak_memory
    else:
        found = report.metrics.get(metric)
    values = found if isinstance(found, tuple) else (found,)
    return tuple(float(value) for value in values if value is not None and value > 0)


def _side(trial: Trial, bounds: Bounds) -> bool | None:
    """Tell whether a point is on the good side; the good end is, the bad end is not if it differs from that."""
    mine = _rounds(trial)
    if bounds.good is None:
        return True
    good = _rounds(bounds.good)
    if bounds.bad is None:
        verdict = apart(good, mine).verdict
        return False if verdict in {Verdict.FASTER, Verdict.SLOWER} else (True if verdict is Verdict.SAME else None)
    return is_on_good_side(good, _rounds(bounds.bad), mine)


def _rounds(trial: Trial) -> dict[int, float]:
    return {number: median(values) for number, values in enumerate(trial.samples)}
