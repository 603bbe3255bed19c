"""Diagnosis with a good end: the difference itself is searched, in mixtures of what held and what does not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from envmgr.app.diagnosing import Place
from envmgr.app.diagnosing_contents import read_contents
from envmgr.app.experiment_commands import Bench, build_key
from envmgr.app.experiment_places import take_snapshot
from envmgr.app.experimenting import Laboratory
from envmgr.diagnose.changes import Change, changes_between, failure_of, mixture, needs_of, pinned, plainly
from envmgr.diagnose.culprit_verdict import described, experiment_of, finding_of, fixes
from envmgr.diagnose.culprits import Culprit, Needs, search
from envmgr.diagnose.observation import Observation
from envmgr.errors import HostError, UsageError
from envmgr.model.finding import Experiment, Finding, World
from envmgr.ports import Event


@dataclass(frozen=True, slots=True)
class Probe:
    """What is tried in every mixture: a cell's runner or the user's own code; `kin` is equal for those of one failure.

    `given` are variables with `{venv}` and `{home}` still in them.
    """

    name: str
    command: tuple[str, ...]
    source: str = ""
    given: Mapping[str, str] = field(default_factory=dict)
    kin: str = ""


@dataclass(frozen=True, slots=True)
class Ends:
    """What held, what does not, and what was asked for.

    An end is pinned to every version that is installed in it; a loose one to what its requirements turn out to give.
    """

    green: World
    red: World
    base: World
    green_is_loose: bool = False
    red_is_loose: bool = False


@dataclass(frozen=True, slots=True)
class Traced:
    """One finding with the names of the probes that it explains."""

    probes: tuple[str, ...]
    finding: Finding


@dataclass(frozen=True, slots=True)
class Searched:
    """What came of a search: findings, probes that the difference does not explain (and why), environments built."""

    traced: tuple[Traced, ...]
    unexplained: Mapping[str, str]
    builds: int
    changes: int
    culprits: tuple[tuple[Change, ...], ...] = ()


class _SpentError(Exception):
    """There is no time for another experiment."""


def search_difference(
    ends: Ends, probes: Sequence[Probe], place: Place, budget: float, suspects: Sequence[tuple[Change, ...]] = ()
) -> Searched:
    """Return the smallest culprits of every probe that passes at one end and fails at the other."""
    with place.files.scratch("difference") as room:
        return _Hunt(ends, place, room, budget).run(probes, suspects)


class _Hunt:
    """One search between two ends: environments are built once and probed by whoever asks."""

    def __init__(self, ends: Ends, place: Place, room: Path, budget: float) -> None:
        self._place = place
        self._budget = budget
        self._begun = place.clock.monotonic()
        snapshot = take_snapshot(place.files, place.home, place.folder, place.environment.values(), room / "snapshot")
        bench = Bench(
            uv=place.uv,
            environment=place.environment,
            given={},
            home=place.home,
            folder=place.folder,
            interpreters=place.interpreters,
            probe=(),
            budget=budget,
        )
        self._laboratory = Laboratory(bench, place.process, place.files, place.clock, room, snapshot)
        self._seen: dict[tuple[str, str], Observation] = {}
        self._built: set[str] = set()
        self._told: list[Experiment] = []
        self._ends = ends
        self._changes: tuple[Change, ...] = ()
        self._needs: Needs[Change] = Needs()
        self._plain = False

    def run(self, probes: Sequence[Probe], suspects: Sequence[tuple[Change, ...]]) -> Searched:
        """Search for one probe of each kin after the other; those that turn out to be no kin are searched alone."""
        pending: dict[str, list[Probe]] = {}
        for probe in probes:
            pending.setdefault(probe.kin or probe.name, []).append(probe)
        traced: dict[tuple[Change, ...], Traced] = {}
        unexplained: dict[str, str] = {}
        queue = list(pending.values())
        known = list(suspects)
        while queue:
            first, *others = queue.pop(0)
            try:
                why, found, strangers = self._explain(first, others, known)
            except _SpentError:
                waiting = [first, *others, *(probe for group in queue for probe in group)]
                unexplained |= {probe.name: "the budget was spent before it was found" for probe in waiting}
                break
            if why:
                unexplained[first.name] = why
            for items, one in found.items():
                before = traced.get(items)
                traced[items] = replace(one, probes=(*before.probes, *one.probes)) if before else one
            known += [items for items in found if items not in known]
            queue += self._by_failure(strangers)
        return Searched(tuple(traced.values()), unexplained, len(self._built), len(self._changes), tuple(traced))

    def _explain(
        self, probe: Probe, others: Sequence[Probe], suspects: Sequence[tuple[Change, ...]]
    ) -> tuple[str, dict[tuple[Change, ...], Traced], list[Probe]]:
        """Return why nothing is found for a probe (or nothing), its findings, and which of the others are no kin."""
        why = self._check_ends(probe)
        if why:
            return why, {}, list(others)
        found = search(self._changes, lambda made: failure_of(self._see(probe, made)), self._needs, suspects)
        if not found.culprits:
            return "nothing that differs explains it", {}, list(others)
        kin = [one for one in others if self._is_kin(one, found.culprits, found.left)]
        healed = found.seen == ""
        fix, confirmed = self._fix(probe, found.culprits) if healed else (None, False)
        traced = {}
        for culprit in found.culprits:
            seen = self._see(probe, self._needs.closed(culprit.items))
            finding = finding_of(culprit, seen, len(self._changes), fix, confirmed=confirmed)
            finding = finding.model_copy(update={"experiments": tuple(self._told)})
            traced[culprit.items] = Traced((probe.name, *(one.name for one in kin)), finding)
        return "", traced, [one for one in others if one not in kin]

    def _by_failure(self, probes: Sequence[Probe]) -> list[list[Probe]]:
        """Return probes in groups of those that fail in one way at the bad end."""
        groups: dict[str | None, list[Probe]] = {}
        for probe in probes:
            groups.setdefault(failure_of(self._see(probe, self._changes)), []).append(probe)
        return list(groups.values())

    def _check_ends(self, probe: Probe) -> str:
        """Pin both ends when they are first seen, and return why there is nothing to search, if so."""
        if not self._changes:
            self._settle(probe)
        green = self._see(probe, ())
        if not green.passed:
            return f"the good end fails, too: {green.reading.message[:200]}"
        return "the bad end passes here" if self._see(probe, self._changes).passed else ""

    def _settle(self, probe: Probe) -> None:
        """Pin what is loose, list what differs, and see both ends, whatever they require if need be."""
        ends = self._ends
        green = self._pinned(probe, ends.green, "the good end") if ends.green_is_loose else ends.green
        red = self._pinned(probe, ends.red, "the bad end") if ends.red_is_loose else ends.red
        self._ends = replace(ends, green=green, red=red)
        self._changes = changes_between(green, red)
        if not self._changes:
            raise UsageError("the two ends do not differ", "same distributions, Python and variables", "name others")
        if not all(self._see(probe, made).built for made in ((), self._changes)):
            self._plain = True
        seen = [_demand_built(self._see(probe, made), name) for made, name in (((), "good"), (self._changes, "bad"))]
        contents = [
            read_contents(self._place.files, self._laboratory.site_packages(one.folder)) for one in seen if one.folder
        ]
        self._needs = Needs() if self._plain else needs_of(self._changes, *contents)

    def _pinned(self, probe: Probe, world: World, name: str) -> World:
        seen = _demand_built(self._observe(probe, world, name), name.split()[1])
        return pinned(world, world.python, seen.resolved)

    def _world(self, made: Sequence[Change] | frozenset[Change]) -> World:
        world = mixture(self._ends.green, self._ends.red, made)
        return plainly(world) if self._plain else world

    def _see(self, probe: Probe, made: Sequence[Change] | frozenset[Change]) -> Observation:
        """Return what a probe sees with some of the changes made in the good end."""
        return self._observe(probe, self._world(made), described(made, self._changes))

    def _observe(self, probe: Probe, world: World, name: str, *, again: bool = False) -> Observation:
        key = (probe.name, self._key(world))
        if key in self._seen and not again:
            return self._seen[key]
        if self._place.clock.monotonic() - self._begun > self._budget:
            raise _SpentError
        if world.python not in self._place.interpreters:
            known = ", ".join(sorted(self._place.interpreters))
            hint = f"envmgr python install {world.python}"
            raise HostError(f"there is no Python {world.python} here", f"found: {known}", hint)
        self._built.add(build_key(world))
        self._laboratory.bench = replace(self._laboratory.bench, probe=probe.command, given=probe.given)
        seen = self._laboratory.observe(world)
        self._seen[key] = seen
        told = experiment_of(name, seen)
        self._told.append(told)
        detail = f"{told.outcome} ({told.seconds:.1f} s) {told.reason[:120]}"
        self._place.listener.on_event(Event("tried", name, detail))
        return seen

    @staticmethod
    def _key(world: World) -> str:
        return world.model_dump_json()

    def _is_kin(self, probe: Probe, culprits: Sequence[Culprit[Change]], left: frozenset[Change]) -> bool:
        """Tell whether the same culprits break a probe, and taking them out heals it."""
        if not self._see(probe, left).passed or self._see(probe, self._changes).passed:
            return False
        return all(failure_of(self._see(probe, self._needs.closed(one.items))) for one in culprits)

    def _fix(self, probe: Probe, culprits: Sequence[Culprit[Change]]) -> tuple[tuple[World, World] | None, bool]:
        """Return the first pair of worlds of which one fails and the other passes, and whether that holds again."""
        ends = (self._ends.green, self._ends.red)
        for failing, healed in fixes(self._ends.base, ends, self._changes, culprits, self._needs):
            world = plainly(healed) if self._plain and healed.requirements else healed
            if not self._observe(probe, world, "the fix").passed:
                continue
            red = self._observe(probe, self._world(self._changes), "the bad end again", again=True)
            good = self._observe(probe, world, "the fix again", again=True)
            return (failing, healed), good.passed and not red.passed
        return None, False


def _demand_built(seen: Observation, end: str) -> Observation:
    if not seen.built:
        why = seen.reading.message[:300]
        raise UsageError(f"the {end} end cannot be built", why, "name another good end with --good")
    return seen
