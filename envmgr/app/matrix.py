"""The main job: build what is missing, measure every cell, keep every result."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from threading import Semaphore
from typing import NamedTuple

from envmgr.app.again import failed_before
from envmgr.app.building import BUILDS_AT_ONCE, Builder, BuildWishes, Built
from envmgr.app.cells import CellRunner
from envmgr.app.finding_cells import Measured, with_evidence
from envmgr.app.guarding import GuardedEnvs
from envmgr.app.hosting import facts_here
from envmgr.app.past import keep_locks, lock_in_run, praised
from envmgr.app.planning import Chosen, Known, Selection, choose, known_before_build, make_plan
from envmgr.app.probing import list_devices
from envmgr.app.rounds import Rounds, tell_further, tell_plan, tell_taken
from envmgr.app.runs import stored_run
from envmgr.app.version import version
from envmgr.app.workplace import Workplace
from envmgr.cell.request import Refusal
from envmgr.errors import BuildError, EnvmgrError, NothingSelectedError, ResolveError
from envmgr.fleet.local import LocalExecutor
from envmgr.model.cell import Cell
from envmgr.model.host import HostFacts
from envmgr.model.lacking import Lacking
from envmgr.model.outcome import Outcome, Phase
from envmgr.model.result import CellResult, Run, RunRecord
from envmgr.ports import Event, Executor
from envmgr.store.query import cold, find_cell, split_reference
from envmgr.store.results import new_run_id

_PREPARED_AT_ONCE = 16
_ASKED_AT_ONCE = 3
"""Envs whose backends are asked for devices at the same time: that keeps a processor busy for each."""


@dataclass(frozen=True, slots=True)
class MatrixWishes:
    """What the user wants of a run: which cells, how built, how many at a time, and on what earlier run it stands."""

    selection: Selection
    build: BuildWishes
    jobs: int = 1
    only_failed: bool = False
    command: tuple[str, ...] = ()


class CellLog(NamedTuple):
    """What one process of a cell wrote to stdout and stderr."""

    cell: str
    round: int
    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Prepared:
    """One selected variant with what came of its build: an env and its devices, or a refusal."""

    chosen: Chosen
    known: Known
    built: Built | None = None


def run_matrix(workplace: Workplace, wishes: MatrixWishes) -> Run:
    """Measure a matrix and return the run; every result is stored the moment it is there.

    Envs are built several at a time; cells are measured one at a time unless `jobs` says otherwise, in rounds: the
    first process of every cell, then the second, so that a drift of the machine hits all alike.
    """
    facts = facts_here(workplace, wishes.build.python, downloads=wishes.build.downloads)
    matrix, chosen = choose(workplace, wishes.selection, facts, wishes.build.python)
    again = failed_before(workplace) if wishes.only_failed else None
    envs = GuardedEnvs(workplace, Builder(workplace, facts, wishes.build))
    prepared = _prepare(workplace, chosen, facts, envs)
    plan = make_plan(workplace, wishes.selection, matrix, (each.known for each in prepared), facts)
    if again is not None:
        plan = again.of(plan)
    now = workplace.clock.now()
    record = RunRecord(
        id=new_run_id(now),
        started_at=now.isoformat(timespec="seconds"),
        command=wishes.command,
        host=facts.name,
        identities={facts.name: facts.identity},
        envmgr=version(),
        plan=plan,
        envs={label: each.env for label, each in envs.all.items()},
        listings={each.chosen.label: each.known.target.listing for each in prepared if each.known.target.listing},
    )
    workplace.store.begin(record)
    keep_locks(workplace, record.id, (each.built for each in prepared))
    return measure_run(workplace, record.id, envs, wishes.jobs)


def resume_matrix(workplace: Workplace, run_name: str, wishes: MatrixWishes) -> Run:
    """Measure what an interrupted run has left, in the same plan and envs, and return the whole run."""
    run = stored_run(workplace, run_name)
    jobs = () if run.finished else Rounds(run).left()
    if not jobs:
        raise NothingSelectedError(
            f"run {run.record.id} has nothing left to measure",
            f"all {len(run.results)} results are there",
            f"envmgr matrix show {run.record.id}",
        )
    facts = facts_here(workplace, wishes.build.python, downloads=wishes.build.downloads)
    envs = GuardedEnvs(workplace, Builder(workplace, facts, wishes.build))
    cells = [cell for cell, _ in jobs]
    if run.record.plan.further:  # what has had its first processes may go on
        cells += [cell for cell in run.record.plan.cells if cell.refusal is None]
    for name, variant in dict.fromkeys((cell.manifest, cell.variant) for cell in cells):
        manifest = workplace.shelf[name]
        label = name if variant == "default" else f"{name}@{variant}"
        envs.accept(envs.build(manifest, variant, lock_in_run(workplace, run, label) if manifest.floating else None))
    return measure_run(workplace, run.record.id, envs, wishes.jobs)


def _prepare(
    workplace: Workplace, chosen: tuple[Chosen, ...], facts: HostFacts, envs: GuardedEnvs
) -> tuple[Prepared, ...]:
    """Build every variant that the host can have, and ask its backend for devices; what fails becomes a refusal.

    What takes the longest to download begins first, and the next is built while the last is asked.
    """
    building, asking = Semaphore(BUILDS_AT_ONCE), Semaphore(_ASKED_AT_ONCE)

    def prepare(job: tuple[Chosen, Known]) -> Prepared:
        each, known = job
        if known.target.refusal is not None:
            return Prepared(each, known)
        try:
            with building:
                built = envs.build(each.manifest, each.variant)
        except EnvmgrError as error:
            workplace.listener.on_event(Event("failed", each.label, error.what))
            return Prepared(each, replace(known, target=replace(known.target, refusal=refusal_for(error))))
        with asking:
            listing = list_devices(workplace, built.env, each.manifest, facts) if each.manifest.backend else None
            envs.accept(built)
        workplace.listener.on_event(Event("ready", each.label))
        version = built.env.interpreter.version
        target = replace(known.target, listing=listing, python=version, platform=built.target.platform)
        return Prepared(each, Known(target, built.env.interpreter, built.env.resolved), built)

    jobs = [(each, known_before_build(workplace, each, facts)) for each in chosen]
    jobs.sort(key=lambda job: -job[1].download)
    done = {each.chosen.label: each for each in LocalExecutor(_PREPARED_AT_ONCE).map(prepare, jobs)}
    return tuple(done[each.label] for each in chosen)


def refusal_for(error: EnvmgrError) -> Refusal:
    """Return what an error at building time means for the cells."""
    reason = f"{error.what}: {error.why}" if error.why else error.what
    first = " ".join(reason.split())
    lacking = Lacking(kind="distribution", name=error.lacks) if error.lacks else None
    if isinstance(error, ResolveError) and error.gone:
        return Refusal(Outcome.GONE, Phase.RESOLVE, first, lacking)
    if isinstance(error, BuildError):
        outcome = Outcome.GONE if error.gone else Outcome.BUILD_FAILED
        return Refusal(outcome, Phase(error.phase), first, lacking)
    phase = {"host": Phase.INTERPRETER, "lock": Phase.RESOLVE, "resolve": Phase.RESOLVE}.get(error.code, Phase.BUILD)
    outcome = Outcome.UNAVAILABLE if error.code == "host" else Outcome.BUILD_FAILED
    return Refusal(outcome, phase, first, lacking)


def measure_run(workplace: Workplace, run_id: str, envs: GuardedEnvs, jobs: int) -> Run:
    """Measure what a begun run has left in its envs, and return the whole run; every result is stored at once."""
    store, listener = workplace.store, workplace.listener
    run = store.load(run_id)
    rounds = Rounds(run)
    tell_plan(listener, run)
    runner = CellRunner(workplace, run_id, envs, jobs)
    for cell in cold(run):
        runner.warm_up(cell)
    # One thread more than cells at a time lays out the next cell and clears up after the last.
    executor: Executor = LocalExecutor(jobs + 1, workplace.process.stop_all)

    def keep_late() -> None:
        for found in envs.late():
            store.set_aside(run_id, found)

    def measure(job: tuple[int, tuple[Cell, int]]) -> tuple[Cell, CellResult]:
        """Measure and store: not in the main thread, where an interrupt could come between the two."""
        number, (cell, round_number) = job
        result = runner.run(number, cell, round_number)
        keep_late()
        result = _with_evidence(workplace, run_id, envs, cell, result)
        store.append(run_id, result)
        return cell, result

    begun = 0
    with closing(runner):
        while waiting := rounds.left():
            tell_further(listener, run.record.plan, rounds, waiting)
            for cell, result in executor.map(measure, enumerate(waiting, begun)):
                rounds.add(result)
                listener.on_cell_finished(cell, result)
            begun += len(waiting)
    tell_taken(listener, run.record.plan, rounds)
    envs.close()
    keep_late()
    store.finish(run_id)
    return praised(workplace, store.load(run_id))


def _with_evidence(workplace: Workplace, run_id: str, envs: GuardedEnvs, cell: Cell, result: CellResult) -> CellResult:
    """Return a result with its finding, if it wants one: from its log and what is known of this machine."""
    if result.outcome is Outcome.PASSED:
        return result
    log = workplace.files.read(workplace.store.log_path(run_id, cell.id, result.round)) or ""
    built = envs.all.get(cell.label)
    manifest = workplace.shelf[cell.manifest]
    return with_evidence(result, cell, log, envs.facts, Measured(manifest, built.env if built else None))


def load_run(workplace: Workplace, name: str) -> Run:
    """Return a stored run by (the beginning of) its id, or the latest."""
    return stored_run(workplace, name)


def logs_of(workplace: Workplace, reference: str) -> tuple[CellLog, ...]:
    """Return what the processes of one cell wrote, by `RUN#CELL` or by the cell of the latest run."""
    run_name, cell_name = split_reference(reference)
    run = load_run(workplace, run_name)
    cell = find_cell(run.record.plan, cell_name)
    rounds = sorted(result.round for result in run.results if result.cell == cell.id)
    logs = [(number, workplace.store.log_path(run.record.id, cell.id, number)) for number in rounds]
    return tuple(CellLog(cell.name, number, str(path), workplace.files.read(path) or "") for number, path in logs)
