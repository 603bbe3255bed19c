"""Diagnosis with a good end: the difference itself is searched, in real mixtures of what held and what does not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from envmgr.app.contents import read_contents
from envmgr.app.experiments.commands import build_key
from envmgr.app.experiments.laboratory import Laboratory
from envmgr.app.experiments.places import named_places, take_snapshot
from envmgr.app.experiments.standpoint import Place
from envmgr.diagnose.changes import Change
from envmgr.diagnose.contents import Contents
from envmgr.diagnose.hunt import Ends, Hunt, Means, Probe, Searched
from envmgr.diagnose.observation import Observation
from envmgr.model.finding import Experiment, World
from envmgr.ports import Event


def search_difference(
    ends: Ends, probes: Sequence[Probe], place: Place, budget: float, suspects: Sequence[tuple[Change, ...]] = ()
) -> Searched:
    """Return the smallest culprits of every probe that passes at one end and fails at the other.

    `budget` is in seconds; `suspects` are culprits that were found elsewhere, tried first.
    """
    with place.files.scratch("difference") as room:
        return Hunt(ends, _means(place, room, budget)).run(probes, suspects)


def laboratory_at(place: Place, room: Path, budget: float) -> Laboratory:
    """Return a laboratory for whoever stands at a place; its probe is still to be named."""
    named = named_places(place.environment, {}, place.system)
    snapshot = take_snapshot(place.files, place.home, place.folder, named, room / "snapshot")
    return Laboratory(place.bench(budget=budget), place.process, place.files, place.clock, room, snapshot)


def _means(place: Place, room: Path, budget: float) -> Means:
    begun = place.clock.monotonic()
    laboratory = laboratory_at(place, room, budget)
    bench = laboratory.bench

    def observe(probe: Probe, world: World) -> Observation:
        place.demand(world.python)
        laboratory.bench = replace(bench, probe=probe.command, given=probe.given)
        return laboratory.observe(world)

    def contents(seen: Observation) -> Contents:
        return read_contents(place.files, laboratory.site_packages(seen.folder)) if seen.folder else Contents()

    def narrate(told: Experiment) -> None:
        detail = f"{told.outcome} ({told.seconds:.1f} s) {told.reason[:120]}"
        place.listener.on_event(Event("tried", told.change, detail))

    return Means(observe, contents, build_key, lambda: place.clock.monotonic() - begun < budget, narrate)
