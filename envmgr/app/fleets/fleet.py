"""The main job over many hosts: each cell where it can run, results home as they come."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from envmgr.app.again import failed_before
from envmgr.app.fleets.hosts import demand_fleet, hosts_of
from envmgr.app.fleets.offers import PATIENCE, Offer, Offers
from envmgr.app.fleets.worker import CellAnswer, CellOrder, look, measure
from envmgr.app.matrix import MatrixWishes
from envmgr.app.rounds import Rounds, tell_further, tell_plan, tell_taken
from envmgr.app.runs import stored_run
from envmgr.app.version import version
from envmgr.app.workplace import Workplace
from envmgr.cell.spread import Homes, Key, Spread, answering, key_of, spread
from envmgr.errors import EnvmgrError, FleetError, NothingSelectedError
from envmgr.fleet.addresses import checked_address
from envmgr.lock.render import render
from envmgr.model.cell import Cell, Plan
from envmgr.model.host import HostFacts
from envmgr.model.outcome import Outcome, Phase
from envmgr.model.result import CellResult, Extension, Run, RunRecord
from envmgr.ports import Event
from envmgr.store.query import WARM_UP, cold
from envmgr.store.results import new_run_id

_LAST_LOOK = 1.0
"""Seconds that the last look at an env waits for its host to be there."""


@dataclass(frozen=True, slots=True)
class FleetWishes:
    """Which fleet is to do the work, and whether it may be one without encryption beyond this machine."""

    address: str
    insecure: bool = False


def run_on_fleet(workplace: Workplace, wishes: MatrixWishes, fleet: FleetWishes, resume: str | None = None) -> Run:
    """Measure a matrix over all hosts of a fleet and return the run; every result is stored the moment it is here.

    `resume` names a run to go on with. What no host can take any more is left for another resume, and told. A host
    that joins meanwhile gets what the others cannot have or have left. Raises FleetError when there is no fleet, when
    its hosts run another envmgr, and when its scheduler is lost.
    """
    before = stored_run(workplace, resume) if resume else None
    with _connected(fleet) as cluster:
        job = _FleetRun(workplace, wishes, cluster, before)
        found = job.prepare()
        return job.measure(job.begin(found) if before is None else job.take_up(before))


@contextmanager
def _connected(fleet: FleetWishes) -> Iterator[Any]:
    demand_fleet()
    from envmgr.fleet.cluster import Cluster

    cluster = Cluster(checked_address(fleet.address, insecure=fleet.insecure))
    try:
        yield cluster
    finally:
        cluster.close()


class Waiting(NamedTuple):
    """A cell that no host present could take, and what is to be said of it."""

    cell: str
    said: str


class _FleetRun:
    """One run over a fleet: hosts asked once, envs built on each, cells sent where they fit."""

    def __init__(self, workplace: Workplace, wishes: MatrixWishes, cluster: Any, before: Run | None) -> None:
        self._workplace = workplace
        self._wishes = wishes
        self._cluster = cluster
        self._selection = wishes.selection
        if before is not None:
            plan = before.record.plan
            self._selection = replace(self._selection, matrix=plan.matrix, effort=plan.effort)
        self._again = failed_before(workplace) if wishes.only_failed and before is None else None
        self._hosts = dict(hosts_of((member.host, member.announced) for member in cluster.members()))
        self._maker = Offers(workplace, cluster, self._selection, before)
        self._offers: dict[tuple[str, str], Offer] = {}
        self._fits: Mapping[Key, frozenset[str]] = {}
        self._homes = Homes()
        self._used: set[tuple[str, str]] = set()
        self._turn = threading.Lock()

    def prepare(self) -> Spread:
        """Have every host build what it can have, and plan over what their backends then list."""
        self._offers = {each.place: each for each in self._maker.made(self._hosts.values())}
        plans = [self._maker.plan(facts, self._offers.values()) for facts in self._hosts.values()]
        found = spread(_demanded([plan for plan in plans if plan], self._selection.matrix))
        self._fits = found.fits
        return found if self._again is None else replace(found, plan=self._again.of(found.plan))

    def begin(self, found: Spread) -> str:
        """Store the head of the run, and the locks of what was built."""
        store, now = self._workplace.store, self._workplace.clock.now()
        built = self._built(self._hosts)
        record = RunRecord(
            id=new_run_id(now),
            started_at=now.isoformat(timespec="seconds"),
            command=self._wishes.command,
            host=found.plan.host,
            identities={host: facts.identity for host, facts in self._hosts.items()},
            envmgr=version(),
            plan=found.plan,
            envs={name: each.env for name, each in built.items() if each.env},
            listings={name: each.known.target.listing for name, each in built.items() if each.known.target.listing},
        )
        store.begin(record)
        self._keep_locks(record.id, built.values())
        return record.id

    def take_up(self, before: Run) -> str:
        """Go on with a run: hosts that it did not have add what they can do."""
        had = before.record.plan.host.split(", ")
        for host, facts in self._hosts.items():
            if host not in had:
                self._extend(before.record.id, facts)
        return before.record.id

    def measure(self, run_id: str) -> Run:
        """Send what is left of a run to the hosts, and keep what comes back."""
        from envmgr.fleet.newcomers import Newcomers
        from envmgr.fleet.remote import ClusterExecutor

        store, listener = self._workplace.store, self._workplace.listener
        run = store.load(run_id)
        tell_plan(listener, run)
        planned = {cell.id: cell.host for cell in run.record.plan.cells}
        self._homes = Homes({each.cell: each.host or planned.get(each.cell, "") for each in run.results})
        newcomers = Newcomers(lambda host, announced: self._welcome(run_id, host, announced), self._hosts)
        executor = ClusterExecutor(self._cluster, self._where, self._pack, self._unplaced, PATIENCE, newcomers)
        jobs = [*((cell, WARM_UP) for cell in cold(run)), *Rounds(run).left()]
        waiting: dict[str, str] = {}
        while jobs:
            answers: Iterator[CellAnswer | Waiting] = executor.map(measure, jobs)
            for answer in answers:
                if isinstance(answer, Waiting):
                    waiting[answer.cell] = answer.said
                elif answer.result.round != WARM_UP:
                    self._keep(run_id, answer)
            run = store.load(run_id)
            rounds = Rounds(run)
            jobs = [job for job in rounds.left() if job[0].id not in waiting]
            tell_further(listener, run.record.plan, rounds, jobs)
        self._look_once_more(run_id)
        for said in sorted({*waiting.values()}):
            listener.on_event(Event("warning", run_id, said))
        run = store.load(run_id)
        rounds = Rounds(run)
        tell_taken(listener, run.record.plan, rounds)
        if not rounds.left():
            store.finish(run_id)
            run = store.load(run_id)
        return run

    def _keep(self, run_id: str, answer: CellAnswer) -> None:
        path = self._workplace.store.log_path(run_id, answer.cell.id, answer.result.round)
        self._workplace.files.write(path, answer.log)
        for found in answer.late:
            self._workplace.store.set_aside(run_id, found)
        self._workplace.store.append(run_id, answer.result)
        self._homes.keep(answer.cell, answer.host)
        self._used.add((answer.host, answer.cell.label))
        self._workplace.listener.on_cell_finished(answer.cell, answer.result)

    def _look_once_more(self, run_id: str) -> None:
        """Have every env in which cells were looked at for the last time."""
        from envmgr.fleet.remote import ClusterExecutor

        executor = ClusterExecutor(
            self._cluster,
            where=lambda place, hosts: {place[0]} & set(hosts),
            pack=lambda place, _: self._offers[place].order,
            unplaced=lambda *_: (),
            patience=_LAST_LOOK,
        )
        for late in executor.map(look, sorted(self._used & self._offers.keys())):
            for found in late:
                self._workplace.store.set_aside(run_id, found)

    def _welcome(self, run_id: str, host: str, announced: str) -> list[tuple[Cell, int]]:
        """Have a host that joins build what is wanted of it, and return the cells that it alone can have."""
        store, listener = self._workplace.store, self._workplace.listener
        with self._turn:
            wanted = self._wanted(store.head(run_id).plan)
            if not wanted:
                return []
            try:
                facts = hosts_of([(host, announced)])[host]
                listener.on_event(Event("host", host, f"has joined; asked for {', '.join(sorted(wanted))}"))
                self._offers |= {each.place: each for each in self._maker.made([facts], wanted)}
                self._hosts[host] = facts
                cells = self._extend(run_id, facts)
            except EnvmgrError as error:
                listener.on_event(Event("warning", host, f"has joined and is left out: {error.what}: {error.why}"))
                return []
            plan = store.head(run_id).plan
            if cells:
                tell_plan(listener, store.load(run_id))
            first = [(cell, WARM_UP) for cell in cells if plan.processes > 1]
            return [*first, *((cell, number) for number in range(plan.processes) for cell in cells)]

    def _wanted(self, plan: Plan) -> set[str]:
        """Return the version sets of cells that no host can have, or whose host has left before they were measured."""
        present = {member.host for member in self._cluster.members()}
        return {
            cell.label
            for cell in plan.cells
            if cell.refusal is not None or (cell.host not in present and not self._homes.has_results(cell))
        }

    def _extend(self, run_id: str, facts: HostFacts) -> tuple[Cell, ...]:
        """Add a host to a run that has begun: return the cells that all others refuse, to be measured there."""
        store, plan = self._workplace.store, self._maker.plan(facts, self._offers.values())
        if plan is None:
            return ()
        able = [key_of(cell) for cell in plan.cells if cell.refusal is None]
        self._fits = {**self._fits, **{key: self._fits.get(key, frozenset()) | {facts.name} for key in able}}
        cells, answered = answering([plan], store.head(run_id).plan)
        built = self._built([facts.name])
        extension = Extension(
            host=facts.name,
            identity=facts.identity,
            cells=cells,
            answered=answered,
            envs={name: each.env for name, each in built.items() if each.env},
            listings={name: each.known.target.listing for name, each in built.items() if each.known.target.listing},
        )
        store.extend(run_id, extension)
        self._keep_locks(run_id, built.values())
        return cells

    def _built(self, hosts: Collection[str]) -> dict[str, Offer]:
        """Return what was built on some hosts, by host and version set."""
        offers = self._offers.values()
        return {f"{each.host}/{each.chosen.label}": each for each in offers if each.env and each.host in hosts}

    def _keep_locks(self, run_id: str, built: Iterable[Offer]) -> None:
        for each in built:
            if each.lock is not None and each.env is not None:
                path = self._workplace.store.lock_path(run_id, each.env.lock_digest)
                self._workplace.files.write(path, render(each.lock))

    def _where(self, job: tuple[Cell, int], hosts: Collection[str]) -> Collection[str]:
        cell, _ = job
        return self._homes.of(cell, hosts, self._fits.get(key_of(cell), frozenset()))

    def _pack(self, job: tuple[Cell, int], host: str) -> CellOrder:
        cell, round_number = job
        order = self._offers[host, cell.label].order
        path = self._workplace.shelf.runners.get(cell.runner)
        text = (self._workplace.files.read(path) or "") if path else ""
        if order is None:
            raise FleetError(f"{cell.label} was never built on {host}", "", "")
        self._homes.send(cell, host)
        return CellOrder(order, cell, round_number, text, hashlib.sha256(text.encode()).hexdigest())

    def _unplaced(self, job: tuple[Cell, int], said: str, worn: bool) -> CellAnswer | Waiting:
        """Return a crash for a cell that costs worker after worker; what waits for its host is left, and told."""
        cell, round_number = job
        if not worn:
            return Waiting(cell.id, f"{cell.name} is left for `envmgr matrix run --resume --fleet ADDRESS`: {said}")
        crashed = CellResult(
            cell=cell.id, round=round_number, outcome=Outcome.CRASHED, phase=Phase.RUN, reason=said, host=cell.host
        )
        return CellAnswer(cell.host, cell, crashed, "")


def _demanded(plans: list[Plan], matrix: str) -> list[Plan]:
    if not plans:
        raise NothingSelectedError(
            "the selection holds no cell",
            f"matrix {matrix!r} measures nothing of it on any host of the fleet",
            f"envmgr matrix plan {matrix}",
        )
    return plans
