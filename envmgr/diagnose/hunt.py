"""The hunt for culprits between two ends, for many probes at once: environments are built once and shared by all.

It starts nothing itself: what a probe sees in a world is asked of whoever has the means.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from envmgr.diagnose.changes import Change, changes_between, failure_of, mixture, needs_of, pinned, plainly
from envmgr.diagnose.contents import Contents
from envmgr.diagnose.culprit_verdict import described, finding_of, fixes
from envmgr.diagnose.culprits import Culprit, Needs, SpentError, search
from envmgr.diagnose.observation import Observation, experiment_of
from envmgr.errors import UsageError
from envmgr.model.finding import Experiment, Finding, World


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


@dataclass(frozen=True, slots=True)
class Means:
    """What a hunt works with: how to see a probe in a world, what is installed there, what is built for a world once.

    `affordable` tells whether there is time for another experiment; `narrate` hears of each.
    """

    observe: Callable[[Probe, World], Observation]
    contents: Callable[[Observation], Contents]
    build_key: Callable[[World], str]
    affordable: Callable[[], bool] = lambda: True
    narrate: Callable[[Experiment], None] = lambda _: None


class Hunt:
    """One search between two ends."""

    def __init__(self, ends: Ends, means: Means) -> None:
        self._ends = ends
        self._means = means
        self._seen: dict[tuple[str, str], Observation] = {}
        self._built: set[str] = set()
        self._told: list[Experiment] = []
        self._changes: tuple[Change, ...] = ()
        self._needs: Needs[Change] = Needs()
        self._plain = False

    def run(self, probes: Sequence[Probe], suspects: Sequence[tuple[Change, ...]]) -> Searched:
        """Search for one probe of each kin after the other; those that turn out to be no kin are searched alone."""
        pending: dict[str, list[Probe]] = {}
        for probe in probes:
            pending.setdefault(probe.kin or probe.name, []).append(probe)
        traced: dict[frozenset[Change], Traced] = {}
        unexplained: dict[str, str] = {}
        queue = list(pending.values())
        known = list(suspects)
        while queue:
            waiting = queue.pop(0)
            try:
                why, found, strangers = self._explain(waiting[0], waiting[1:], known)
                unexplained |= {waiting[0].name: why} if why else {}
                for items, one in found.items():
                    before = traced.get(frozenset(items))
                    known += [] if before else [items]
                    joined = replace(before, probes=(*before.probes, *one.probes)) if before else one
                    traced[frozenset(items)] = joined
                waiting = strangers
                queue += self._by_failure(strangers)
            except SpentError:
                waiting += [probe for group in queue for probe in group]
                unexplained |= {probe.name: "the budget was spent before it was found" for probe in waiting}
                break
        culprits = tuple(tuple(items) for items in traced)
        return Searched(tuple(traced.values()), unexplained, len(self._built), len(self._changes), culprits)

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
        why = "the budget was spent: whether more breaks it is not known" if found.cut else ""
        return why, traced, [one for one in others if one not in kin]

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
        green, seen_green = self._pinned(probe, ends.green, "the good end", loose=ends.green_is_loose)
        red, seen_red = self._pinned(probe, ends.red, "the bad end", loose=ends.red_is_loose)
        self._ends = replace(ends, green=green, red=red)
        self._changes = changes_between(green, red)
        if not self._changes:
            raise UsageError("the two ends do not differ", "same distributions, Python and variables", "name others")
        for made, known in (((), seen_green), (self._changes, seen_red)):
            if known is not None:  # what its requirements gave is what is now pinned
                self._seen[probe.name, self._key(self._world(made))] = known
        if not all(self._see(probe, made).built for made in ((), self._changes)):
            self._plain = True
        seen = [_demand_built(self._see(probe, made), name) for made, name in (((), "good"), (self._changes, "bad"))]
        contents = [self._means.contents(one) for one in seen]
        self._needs = Needs() if self._plain else needs_of(self._changes, *contents)

    def _pinned(self, probe: Probe, world: World, name: str, *, loose: bool) -> tuple[World, Observation | None]:
        """Return an end, a loose one pinned to what its requirements give, and what was seen there if it was."""
        if not loose:
            return world, None
        seen = _demand_built(self._observe(probe, world, name), name.split()[1])
        return pinned(world, world.python, seen.resolved), seen

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
        if not self._means.affordable():
            raise SpentError
        self._built.add(self._means.build_key(world))
        seen = self._means.observe(probe, world)
        self._seen[key] = seen
        self._told.append(experiment_of(name, seen))
        self._means.narrate(self._told[-1])
        return seen

    @staticmethod
    def _key(world: World) -> str:
        return world.model_dump_json()

    def _is_kin(self, probe: Probe, culprits: Sequence[Culprit[Change]], left: frozenset[Change]) -> bool:
        """Tell whether the same culprits break a probe, and taking them out heals it; not without time to see it."""
        try:
            if not self._see(probe, left).passed or self._see(probe, self._changes).passed:
                return False
            return all(failure_of(self._see(probe, self._needs.closed(one.items))) for one in culprits)
        except SpentError:
            return False

    def _fix(self, probe: Probe, culprits: Sequence[Culprit[Change]]) -> tuple[tuple[World, World] | None, bool]:
        """Return the first pair of worlds of which one fails and the other passes, and whether that holds again.

        It does not where there is no time to see it, nor is there a pair where there is none to look for one.
        """
        ends, found = (self._ends.green, self._ends.red), None
        try:
            for failing, healed in fixes(self._ends.base, ends, self._changes, culprits, self._needs):
                world = plainly(healed) if self._plain and healed.requirements else healed
                if not self._observe(probe, world, "the fix").passed:
                    continue
                found = (failing, healed)
                red = self._observe(probe, self._world(self._changes), "the bad end again", again=True)
                good = self._observe(probe, world, "the fix again", again=True)
                return found, good.passed and not red.passed
        except SpentError:
            pass
        return found, False


def _demand_built(seen: Observation, end: str) -> Observation:
    if not seen.built:
        why = seen.reading.message[:300]
        raise UsageError(f"the {end} end cannot be built", why, "name another good end with --good")
    return seen
