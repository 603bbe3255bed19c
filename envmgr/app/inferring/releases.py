"""One distribution's API against another's release: moves what lacks a name to releases in which every used name is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta

from envmgr.app.inferring.quest import Attempt
from envmgr.app.inferring.search import EraSearch
from envmgr.diagnose.releases import Release
from envmgr.diagnose.requirement import with_line, without
from envmgr.diagnose.worlds import with_requirement
from envmgr.infer.naming import Wanted
from envmgr.model.finding import World
from envmgr.stats.bisect import bisect

_ROUNDS = 3


def move_releases(search: EraSearch, best: Attempt) -> Attempt:
    """Return an attempt in which fewer names are missing than in the best one so far, or that one."""
    for _ in range(_ROUNDS):
        better = next((found for found in _moves(search, best) if found is not best), best)
        if better is best or better.passed:
            return better
        best = better
    return best


def _moves(search: EraSearch, best: Attempt) -> Iterator[Attempt]:
    for one in _suspects(search, best):
        yield _by_rivals(search, best, one)
        yield _by_releases(search, best, one)


def _suspects(search: EraSearch, best: Attempt) -> list[Wanted]:
    """Return what names are missing from, the most of them first."""
    lacking = [each.module.split(".")[0] for each in (best.proof.missing if best.proof else ()) if each.required]
    suspects = [one for one in search.quest.wanted if one.module in lacking]
    return sorted(suspects, key=lambda one: -lacking.count(one.module))


def _by_rivals(search: EraSearch, best: Attempt, one: Wanted) -> Attempt:
    """Try the other distributions that install the same module."""
    there = next((name for name in one.candidates if name in best.seen.resolved), "")
    for name in one.candidates[:5]:
        line = search.means.offers.line(name, best.era)
        if name == there or not line or not search.means.affordable():
            continue
        lines = without(best.world.requirements, there)
        world = best.world.model_copy(update={"requirements": with_line(lines, line)})
        found = search.observe(world, best.era)
        if _fewer(found, best):
            search.quest.note(f"{name} instead of {there}: it has {_gained(best, found)}")
            search.quest.wanted = [
                replace(w, candidates=(name,)) if w.module == one.module else w for w in search.quest.wanted
            ]
            return found
    return best


def _by_releases(search: EraSearch, best: Attempt, one: Wanted) -> Attempt:
    """Try the ends of what there is for this Python; where one has lost names, bisect to the nearest that has them."""
    name = next((each for each in one.candidates if each in best.seen.resolved), "")
    everything = search.means.offers.fitting(name, replace(best.era, day="")) if name else ()
    here = next((at for at, each in enumerate(everything) if str(each.version) == best.seen.resolved.get(name)), None)
    if here is None:
        return best
    for end in dict.fromkeys((0, len(everything) - 1)):
        if end == here or not search.means.affordable():
            continue
        if _was_seen_without(search, best, name, everything[end]):
            continue
        line = _Line(search, best, name, everything)
        gained = (best.missing or frozenset()) - (line.at(end).missing or frozenset())
        if line.at(end).missing is None or not gained:
            continue
        chosen = line.at(end) if search.passed_late(line.at(end)) else line.at(line.nearest(here, end, gained))
        if _fewer(chosen, best):
            search.quest.note(f"{name} {chosen.seen.resolved.get(name, '')}: it has {_gained(best, chosen)}")
            return chosen
    return best


def _was_seen_without(search: EraSearch, best: Attempt, name: str, release: Release) -> bool:
    """Tell whether a release was there on another day, on the same Python, and nothing was gained by it."""
    return any(
        one.era.python == best.era.python
        and one.seen.resolved.get(name) == str(release.version)
        and one.missing is not None
        and (best.missing or frozenset()) <= one.missing
        for one in search.attempts
    )


@dataclass
class _Line:
    """The releases of one distribution, each tried in the best world so far when it is asked for."""

    search: EraSearch
    best: Attempt
    name: str
    releases: Sequence[Release]
    tried: dict[int, Attempt] = field(default_factory=dict)

    def at(self, place: int) -> Attempt:
        """Return what is seen with one release."""
        if place not in self.tried:
            release = self.releases[place]
            world = with_requirement(self.best.world, f"{self.name}=={release.version}")
            self.tried[place] = self.search.observe(_dated(world, release), self.best.era)
        return self.tried[place]

    def nearest(self, here: int, end: int, names: frozenset[str]) -> int:
        """Return the place nearest to `here`, towards an end that has them, at which all of some names are there."""
        sign = 1 if end > here else -1

        def lacks(place: int) -> bool | None:
            if not self.search.means.affordable():
                return None
            missing = self.at(sign * place).missing
            return None if missing is None else bool(names & missing)

        return sign * bisect(sign * here, sign * end, lacks).first_bad


def _dated(world: World, release: Release) -> World:
    """Let a release that came out after the era's day be seen, and what it needs of that time."""
    if not world.exclude_newer or release.uploaded < world.exclude_newer:
        return world
    later = (date.fromisoformat(release.uploaded) + timedelta(days=30)).isoformat() if release.uploaded else ""
    return world.model_copy(update={"exclude_newer": later})


def _fewer(found: Attempt, best: Attempt) -> bool:
    return found.missing is not None and (best.missing is None or len(found.missing) < len(best.missing))


def _gained(before: Attempt, after: Attempt) -> str:
    return ", ".join(sorted((before.missing or frozenset()) - (after.missing or frozenset()))[:5])
