"""What the hosts of a fleet can have: each version set on each host, built there, or why not."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any

from envmgr.app.building import content_of
from envmgr.app.fleets.worker import EnvAnswer, EnvOrder, prepare
from envmgr.app.hosting import pythons_here, true_settings
from envmgr.app.locking import LockMaker, LockWishes, existing_lock
from envmgr.app.matrix import refusal_for
from envmgr.app.past import lock_in_run
from envmgr.app.planning import Chosen, Known, Selection, choose, known_before_build, make_plan
from envmgr.app.workplace import Workplace
from envmgr.cell.request import Refusal
from envmgr.errors import EnvmgrError, FleetError, HostError, NothingSelectedError
from envmgr.host.match import match
from envmgr.manifest.expand import target
from envmgr.model.cell import Plan
from envmgr.model.env import DeviceListing, Env
from envmgr.model.host import HostFacts
from envmgr.model.lock import Lock
from envmgr.model.result import Run
from envmgr.ports import Event

PATIENCE = 20.0
"""Seconds that work waits for a host that could take it, when no host comes or goes."""


@dataclass(frozen=True, slots=True)
class Offer:
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


class Offers:
    """Makes offers: of hosts that are asked together or one after the other, each lock resolved once."""

    def __init__(self, workplace: Workplace, cluster: Any, selection: Selection, before: Run | None) -> None:
        self._workplace = workplace
        self._cluster = cluster
        self._selection = selection
        self._before = before
        self._maker = LockMaker(workplace, pythons_here(workplace), true_settings(workplace))
        self._resolved: dict[tuple[str, str], Lock | EnvmgrError] = {}

    def made(self, hosts: Iterable[HostFacts], labels: Collection[str] | None = None) -> tuple[Offer, ...]:
        """Have every host build what it can have of the selection (of it, those labels), and return what came of it."""
        offers = []
        for facts in hosts:
            _, chosen = choose(self._workplace, self._selection, facts)
            offers += [self._offer(each, facts) for each in chosen if labels is None or each.label in labels]
        return self._build(offers)

    def plan(self, facts: HostFacts, offers: Iterable[Offer]) -> Plan | None:
        """Return the plan of one host over its offers; None when it holds no cell."""
        matrix = self._workplace.shelf.matrix(self._selection.matrix)
        known = [each.known for each in offers if each.host == facts.name]
        try:
            return make_plan(self._workplace, self._selection, matrix, known, facts)
        except NothingSelectedError:
            return None

    def _offer(self, chosen: Chosen, facts: HostFacts) -> Offer:
        known = known_before_build(self._workplace, chosen, facts)
        offer = Offer(facts.name, chosen, known)
        if known.target.refusal is not None:
            return offer
        try:
            order, lock = self._order(chosen, facts)
        except EnvmgrError as error:
            return replace(offer, known=_refused(known, refusal_for(error)))
        return replace(offer, order=order, lock=lock)

    def _order(self, chosen: Chosen, facts: HostFacts) -> tuple[EnvOrder, Lock | None]:
        manifest, variant = chosen.manifest, chosen.variant
        fitting = chosen.match
        if fitting.platform is None:
            raise HostError(f"{chosen.label} cannot be had on {facts.name}", fitting.reason, "")
        lock = None
        if not manifest.step:
            name = f"{facts.name}/{chosen.label}"
            past = lock_in_run(self._workplace, self._before, name) if self._before else None
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

    def _build(self, offers: list[Offer]) -> tuple[Offer, ...]:
        from envmgr.fleet.remote import ClusterExecutor

        def unplaced(offer: Offer, said: str, _worn: bool) -> EnvAnswer:
            return EnvAnswer(offer.host, offer.chosen.label, error=FleetError("its worker left the fleet", said, ""))

        executor = ClusterExecutor(
            self._cluster,
            where=lambda offer, hosts: {offer.host} & set(hosts),
            pack=lambda offer, _: offer.order,
            unplaced=unplaced,
            patience=PATIENCE,
        )
        found = {offer.place: offer for offer in offers}
        for answer in executor.map(prepare, [offer for offer in offers if offer.order is not None]):
            place = answer.host, answer.label
            found[place] = self._answered(found[place], answer)
        return tuple(found.values())

    def _answered(self, offer: Offer, answer: EnvAnswer) -> Offer:
        where = f"{offer.chosen.label} on {offer.host}"
        if answer.error is not None or answer.env is None:
            error = answer.error or FleetError("no answer", "", "")
            self._workplace.listener.on_event(Event("failed", where, error.what))
            return replace(offer, known=_refused(offer.known, refusal_for(error)), order=None)
        self._workplace.listener.on_event(Event("ready", where))
        env, listing = answer.env, answer.listing
        return replace(offer, env=env, known=_listed(offer.known, env, listing))


def _refused(known: Known, refusal: Refusal) -> Known:
    return replace(known, target=replace(known.target, refusal=refusal))


def _listed(known: Known, env: Env, listing: DeviceListing | None) -> Known:
    facts = replace(known.target, listing=listing, python=env.interpreter.version)
    return Known(facts, env.interpreter, env.resolved)
