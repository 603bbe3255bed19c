"""The main job over many hosts: each cell where it can run, results home as they come."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from envmgr.app.building import content_of
from envmgr.app.finding_cells import Measured, with_evidence
from envmgr.app.fleet_hosts import demand_fleet, hosts_of
from envmgr.app.hosting import pythons_here, true_settings
from envmgr.app.locking import LockMaker, LockWishes, existing_lock
from envmgr.app.matrix import MatrixWishes, refusal_for
from envmgr.app.past import lock_in_run
from envmgr.app.planning import Chosen, Known, choose, known_before_build, make_plan
from envmgr.app.runs import stored_run
from envmgr.app.version import version
from envmgr.app.worker import CellAnswer, CellOrder, EnvAnswer, EnvOrder, measure, prepare
from envmgr.app.workplace import Workplace
from envmgr.cell.request import Refusal
from envmgr.cell.spread import Key, Spread, key_of, spread
from envmgr.errors import EnvmgrError, FleetError, HostError, NothingSelectedError, UsageError
from envmgr.fleet.addresses import checked_address
from envmgr.host.match import match
from envmgr.lock.render import render
from envmgr.manifest.expand import target
from envmgr.model.cell import Cell, Plan
from envmgr.model.env import DeviceListing, Env
from envmgr.model.host import HostFacts
from envmgr.model.lock import Lock
from envmgr.model.manifest import Matrix
from envmgr.model.outcome import Outcome, Phase
from envmgr.model.result import CellResult, Run, RunRecord
from envmgr.ports import Event
from envmgr.store.query import WARM_UP, cold, left
from envmgr.store.results import new_run_id

_PATIENCE = 20.0


@dataclass(frozen=True, slots=True)
class FleetWishes:
    """Which fleet is to do the work, and whether it may be one without encryption beyond this machine."""

    address: str
    insecure: bool = False


@dataclass(frozen=True, slots=True)
class _Offer:
    """One version set on one host: what it would be built from, or why not; later the env and its devices."""

    host: str
    chosen: Chosen
    known: Known
    order: EnvOrder | None = None
    lock: Lock | None = None
    env: Env | None = None

    @property
    def place(self) -> tuple[str, str]:
        return self.host, self.chosen.label


def run_on_fleet(workplace: Workplace, wishes: MatrixWishes, fleet: FleetWishes, resume: str | None = None) -> Run:
    """Measure a matrix over all hosts of a fleet and return the run; every result is stored the moment it is here.

    `resume` names a run to go on with. What no host can take any more is left for another resume, and told. Raises
    FleetError when there is no fleet, when its hosts run another envmgr, and when its scheduler is lost.
    """
    if wishes.only_failed:
        raise UsageError("--failed and --fleet exclude each other", "", "leave one of them out")
    before = stored_run(workplace, resume) if resume else None
    with _connected(fleet) as cluster:
        job = _FleetRun(workplace, wishes, cluster)
        if before is not None:
            job.prepare(before)
            return job.measure(before.record.id)
        spread_plan = job.prepare(None)
        return job.measure(job.begin(spread_plan))


@contextmanager
def _connected(fleet: FleetWishes) -> Iterator[Any]:
    demand_fleet()
    from envmgr.fleet.cluster import Cluster

    cluster = Cluster(checked_address(fleet.address, insecure=fleet.insecure))
    try:
        yield cluster
    finally:
        cluster.close()


class _FleetRun:
    """One run over a fleet: hosts asked once, envs built on each, cells sent where they fit."""

    def __init__(self, workplace: Workplace, wishes: MatrixWishes, cluster: Any) -> None:
        self._workplace = workplace
        self._wishes = wishes
        self._cluster = cluster
        self._hosts = hosts_of({member.host: member.announced for member in cluster.members()})
        self._maker = LockMaker(workplace, pythons_here(workplace), true_settings(workplace))
        self._resolved: dict[tuple[str, str], Lock | EnvmgrError] = {}
        self._offers: dict[tuple[str, str], _Offer] = {}
        self._fits: Mapping[Key, frozenset[str]] = {}
        self._settled: set[str] = set()

    def prepare(self, before: Run | None) -> Spread:
        """Have every host build what it can have, and plan over what their backends then list."""
        matrix: Matrix | None = None
        offers: list[_Offer] = []
        selection = self._wishes.selection
        if before is not None:
            selection = replace(selection, matrix=before.record.plan.matrix, effort=before.record.plan.effort)
        for facts in self._hosts.values():
            matrix, chosen = choose(self._workplace, selection, facts)
            offers += [self._offer(each, facts, before) for each in chosen]
        self._offers = {each.place: each for each in offers}
        self._build()
        plans = []
        for host, facts in self._hosts.items():
            known = [each.known for each in self._offers.values() if each.host == host]
            try:
                plans.append(make_plan(self._workplace, selection, matrix, known, facts) if matrix else None)
            except NothingSelectedError:
                continue
        found = spread(_demanded([plan for plan in plans if plan], selection.matrix))
        self._fits = found.fits
        return found

    def begin(self, found: Spread) -> str:
        """Store the head of the run, and the locks of what was built."""
        store, now = self._workplace.store, self._workplace.clock.now()
        built = {f"{each.host}/{each.chosen.label}": each for each in self._offers.values() if each.env}
        record = RunRecord(
            id=new_run_id(now),
            started_at=now.isoformat(timespec="seconds"),
            command=self._wishes.command,
            host=found.plan.host,
            envmgr=version(),
            plan=found.plan,
            envs={name: each.env for name, each in built.items() if each.env},
            listings={name: each.known.target.listing for name, each in built.items() if each.known.target.listing},
        )
        store.begin(record)
        for each in built.values():
            if each.lock is not None and each.env is not None:
                self._workplace.files.write(store.lock_path(record.id, each.env.lock_digest), render(each.lock))
        return record.id

    def measure(self, run_id: str) -> Run:
        """Send what is left of a run to the hosts, and keep what comes back."""
        from envmgr.fleet.remote import ClusterExecutor

        store, listener = self._workplace.store, self._workplace.listener
        run = store.load(run_id)
        listener.on_plan(run.record.plan, len(run.results))
        self._settled = {result.cell for result in run.results}
        executor = ClusterExecutor(self._cluster, self._where, self._pack, self._unplaced, _PATIENCE)
        jobs = [*((cell, WARM_UP) for cell in cold(run)), *left(run)]
        waiting: set[str] = set()
        answers: Iterator[CellAnswer | str] = executor.map(measure, jobs)
        for answer in answers:
            if isinstance(answer, str):
                waiting.add(answer)
            elif answer.result.round != WARM_UP:
                self._keep(run_id, answer)
        for said in sorted(waiting):
            listener.on_event(Event("warning", run_id, said))
        run = store.load(run_id)
        if not left(run):
            store.finish(run_id)
            run = store.load(run_id)
        return run

    def _keep(self, run_id: str, answer: CellAnswer) -> None:
        path = self._workplace.store.log_path(run_id, answer.cell.id, answer.result.round)
        self._workplace.files.write(path, answer.log)
        for found in answer.late:
            self._workplace.store.set_aside(run_id, found)
        offer = self._offers.get((answer.host, answer.cell.label))
        measured = Measured(self._workplace.shelf[answer.cell.manifest], offer.env if offer else None)
        facts = self._hosts.get(answer.host)
        result = with_evidence(answer.result, answer.cell, answer.log, facts, measured) if facts else answer.result
        self._workplace.store.append(run_id, result)
        self._settled.add(answer.cell.id)
        self._workplace.listener.on_cell_finished(answer.cell, answer.result)

    def _offer(self, chosen: Chosen, facts: HostFacts, before: Run | None) -> _Offer:
        known = known_before_build(self._workplace, chosen, facts)
        offer = _Offer(facts.name, chosen, known)
        if known.target.refusal is not None:
            return offer
        try:
            order, lock = self._order(chosen, facts, before)
        except EnvmgrError as error:
            return replace(offer, known=_refused(known, refusal_for(error)))
        return replace(offer, order=order, lock=lock)

    def _order(self, chosen: Chosen, facts: HostFacts, before: Run | None) -> tuple[EnvOrder, Lock | None]:
        manifest, variant = chosen.manifest, chosen.variant
        fitting = chosen.match
        if fitting.platform is None:
            raise HostError(f"{chosen.label} cannot be had on {facts.name}", fitting.reason, "")
        lock = None
        if not manifest.step:
            past = lock_in_run(self._workplace, before, f"{facts.name}/{chosen.label}") if before else None
            lock = past or self._lock(chosen, fitting.interpreter.minor if fitting.interpreter else None)
            if fitting.interpreter is None or fitting.interpreter.minor != lock.python:
                fitting = match(manifest, variant, facts, lock.python)
        if fitting.interpreter is None or fitting.platform is None:
            wanted = fitting.fetch or (lock.python if lock else manifest.python)
            raise HostError(
                f"{chosen.label} cannot be had on {facts.name}",
                f"wanted Python {wanted}, which is not there",
                f"on {facts.name}: envmgr python install {wanted}",
            )
        content = content_of(manifest, lock)
        return EnvOrder(manifest, variant, content, fitting.interpreter, fitting.platform), lock

    def _lock(self, chosen: Chosen, python: str | None) -> Lock:
        """Return the lock for a host's platform; what floats is resolved once a run for each platform."""
        if chosen.match.platform is None:
            raise HostError(f"{chosen.label} has no platform here", chosen.match.reason, "")
        aim = target(chosen.manifest, chosen.variant, chosen.match.platform)
        key = (aim.label, aim.platform.value)
        if key not in self._resolved:
            try:
                found = None if chosen.manifest.floating else existing_lock(self._workplace, aim)
                upgrades = ("*",) if chosen.manifest.floating else ()
                self._resolved[key] = (
                    found or self._maker.make(aim, LockWishes(python=python, upgrades=upgrades))
                ).lock
            except EnvmgrError as error:
                self._resolved[key] = error
        made = self._resolved[key]
        if isinstance(made, EnvmgrError):
            raise made
        return made

    def _build(self) -> None:
        from envmgr.fleet.remote import ClusterExecutor

        def unplaced(offer: _Offer, said: str, _worn: bool) -> EnvAnswer:
            return EnvAnswer(offer.host, offer.chosen.label, error=FleetError("its worker left the fleet", said, ""))

        executor = ClusterExecutor(
            self._cluster,
            where=lambda offer, hosts: {offer.host} & set(hosts),
            pack=lambda offer, _: offer.order,
            unplaced=unplaced,
            patience=_PATIENCE,
        )
        for answer in executor.map(prepare, [each for each in self._offers.values() if each.order is not None]):
            offer = self._offers[answer.host, answer.label]
            self._offers[offer.place] = self._answered(offer, answer)

    def _answered(self, offer: _Offer, answer: EnvAnswer) -> _Offer:
        where = f"{offer.chosen.label} on {offer.host}"
        if answer.error is not None or answer.env is None:
            error = answer.error or FleetError("no answer", "", "")
            self._workplace.listener.on_event(Event("failed", where, error.what))
            return replace(offer, known=_refused(offer.known, refusal_for(error)), order=None)
        self._workplace.listener.on_event(Event("ready", where))
        env, listing = answer.env, answer.listing
        return replace(offer, env=env, known=_listed(offer.known, env, listing))

    def _where(self, job: tuple[Cell, int], hosts: Collection[str]) -> Collection[str]:
        """Return the hosts for a cell: its own, as long as that is there; another only while nothing is measured."""
        cell, _ = job
        if cell.host in hosts or cell.id in self._settled:
            return {cell.host} & set(hosts)
        return self._fits.get(key_of(cell), frozenset()) & set(hosts)

    def _pack(self, job: tuple[Cell, int], host: str) -> CellOrder:
        cell, round_number = job
        order = self._offers[host, cell.label].order
        path = self._workplace.shelf.runners.get(cell.runner)
        text = (self._workplace.files.read(path) or "") if path else ""
        if order is None:
            raise FleetError(f"{cell.label} was never built on {host}", "", "")
        return CellOrder(order, cell, round_number, text, hashlib.sha256(text.encode()).hexdigest())

    def _unplaced(self, job: tuple[Cell, int], said: str, worn: bool) -> CellAnswer | str:
        """Return a crash for a cell that costs worker after worker; what waits for its host is left, and told."""
        cell, round_number = job
        if not worn:
            return f"{cell.name} is left for `envmgr matrix run --resume --fleet ADDRESS`: {said}"
        crashed = CellResult(
            cell=cell.id, round=round_number, outcome=Outcome.CRASHED, phase=Phase.RUN, reason=said, host=cell.host
        )
        return CellAnswer(cell.host, cell, crashed, "")


def _refused(known: Known, refusal: Refusal) -> Known:
    return replace(known, target=replace(known.target, refusal=refusal))


def _listed(known: Known, env: Env, listing: DeviceListing | None) -> Known:
    facts = replace(known.target, listing=listing, python=env.interpreter.version)
    return Known(facts, env.interpreter, env.resolved)


def _demanded(plans: list[Plan], matrix: str) -> list[Plan]:
    if not plans:
        raise NothingSelectedError(
            "the selection holds no cell",
            f"matrix {matrix!r} measures nothing of it on any host of the fleet",
            f"envmgr matrix plan {matrix}",
        )
    return plans
