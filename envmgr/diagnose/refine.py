"""From a world that passes to the smallest that does: a date becomes caps, idle parts go, caps get exact."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from packaging.version import Version

from envmgr.diagnose.minimise import boundary, smallest
from envmgr.diagnose.observation import Observation
from envmgr.diagnose.releases import Release, installable, series_between, stable
from envmgr.diagnose.requirement import read_line, version_of
from envmgr.diagnose.search import Journal, Solution, key_of
from envmgr.diagnose.situation import Hypothesis, Situation
from envmgr.diagnose.worlds import asked, parts, replaced, with_requirement
from envmgr.model.finding import Cause, World
from envmgr.model.redaction import shown_variable

_SUSPECTS_TRIED = 2
_ENOUGH_SECONDS = 40.0
_QUESTIONS = 3


@dataclass
class Refined:
    """The smallest world found, what was seen in it, and the causes that remain, the most telling first."""

    world: World
    seen: Observation
    causes: list[Cause] = field(default_factory=list)
    others: tuple[Hypothesis, ...] = ()


class Refinement:
    """Makes a solution smaller by experiment; `elapsed` tells the seconds since the diagnosis began."""

    def __init__(self, journal: Journal, situation: Situation, elapsed: Callable[[], float]) -> None:
        self._journal = journal
        self._situation = situation
        self._base = situation.base
        self._elapsed = elapsed
        self._proposals: Mapping[str, Cause] = {}

    def refine(self, solution: Solution) -> Refined:
        """Return the smallest change that was seen to work."""
        refined = Refined(solution.world, solution.seen, list(solution.candidate.causes), others=solution.others)
        self._proposals = solution.proposals
        self._fewest_variables(refined)
        self._split_constraints(refined)
        self._drop_idle_parts(refined)
        if refined.world.exclude_newer != self._base.exclude_newer and self._came_later(solution):
            self._date_to_caps(refined)
        self._drop_idle_parts(refined)
        self._find_boundaries(refined)
        self._come_near(refined, solution)
        return refined

    def _came_later(self, solution: Solution) -> bool:
        return any(
            step.mechanism == "as of the day of the pins"
            for step in (*solution.candidate.trail, solution.candidate.hypothesis)
        )

    def _passes(self, world: World) -> bool:
        return self._journal.affordable() and self._journal.observe([world])[0].passed

    # -- a date becomes caps

    def _date_to_caps(self, refined: Refined) -> None:
        """Find which of the distributions that a date moved are to blame."""
        before, after = self._situation.seen.resolved, refined.seen.resolved
        moved = [name for name in after if name in before and _older(after[name], before[name])]
        moved.sort(key=self._suspicion, reverse=True)
        plain = refined.world.model_copy(update={"exclude_newer": self._base.exclude_newer})

        def capped(names: Sequence[str]) -> World:
            world = plain
            for name in names:
                world = with_requirement(world, f"{name}<={after[name]}")
            return world

        chosen = self._first_suspects(moved, capped) or smallest(moved, lambda names: self._passes(capped(names)))
        world = capped(chosen)
        if not chosen or not self._passes(world):
            return
        refined.world, refined.seen = world, self._journal.observe([world])[0]
        refined.causes = [
            Cause(kind="package", name=name, why=f"{name} {before[name]} breaks it; with {after[name]} it passes")
            for name in chosen
        ]

    def _suspicion(self, name: str) -> float:
        reading, contents = self._situation.reading, self._situation.contents
        frames = [contents.owner_of(frame.module) for frame in reading.frames if frame.top]
        weight = float(len(frames) - frames[::-1].index(name)) / len(frames) if name in frames else 0.0
        return weight + (2.0 if reading.says(name) else 0.0)

    def _first_suspects(self, moved: Sequence[str], capped: Callable[[Sequence[str]], World]) -> tuple[str, ...]:
        """Try those that the text accuses, alone, before anything else."""
        for name in moved[:_SUSPECTS_TRIED]:
            if self._suspicion(name) <= 0:
                break
            if self._passes(capped([name])):
                return (name,)
        return ()

    # -- build constraints

    def _split_constraints(self, refined: Refined) -> None:
        added = [line for line in refined.world.build_constraints if line not in self._base.build_constraints]
        if len(added) < 2:
            return

        def held(lines: Sequence[str]) -> World:
            return refined.world.model_copy(update={"build_constraints": (*self._base.build_constraints, *lines)})

        text = self._situation.reading.text.lower()
        accused = [line for line in added if line.split("<")[0] in text]
        alone = next(((line,) for line in accused[:_SUSPECTS_TRIED] if self._passes(held([line]))), ())
        chosen: tuple[str, ...] = alone or smallest(added, lambda lines: self._passes(held(lines)))
        if not self._passes(held(chosen)):
            return
        refined.world = held(chosen)
        refined.seen = self._journal.observe([refined.world])[0]
        tools = [line.split("<")[0] for line in chosen]
        whys = [
            f"the build breaks with a later {tool}; with {line} it succeeds"
            for tool, line in zip(tools, chosen, strict=True)
        ]
        refined.causes = [Cause(kind="package", name=tool, why=why) for tool, why in zip(tools, whys, strict=True)]

    # -- variables

    def _fewest_variables(self, refined: Refined) -> None:
        """Find which of several variables that were unset are to blame."""
        unset = refined.world.variables.unset
        if len(unset) < 3:
            return

        def bare(names: Sequence[str]) -> World:
            variables = refined.world.variables.model_copy(update={"unset": tuple(names)})
            return refined.world.model_copy(update={"variables": variables})

        chosen = smallest(unset, lambda names: self._passes(bare(names)))
        if not self._passes(bare(chosen)):
            return
        refined.world = bare(chosen)
        refined.seen = self._journal.observe([refined.world])[0]
        values = self._situation.around.variables
        whys = {
            name: f"{shown_variable(name, values.get(name, ''))} takes part, and without it the probe passes"
            for name in chosen
        }
        causes = [Cause(kind="env-state", name=name, why=why) for name, why in whys.items()]
        refined.causes = causes + [cause for cause in refined.causes if cause.kind != "env-state"]

    # -- idle parts

    def _drop_idle_parts(self, refined: Refined) -> None:
        """Take away the parts without which it passes too: all at once if that works, else one after another."""
        while True:
            found = parts(self._base, refined.world)
            if len(found) < 2 or not self._journal.affordable():
                return
            seen = self._journal.observe([part.rest for part in found])
            idle = [part for part, result in zip(found, seen, strict=True) if result.passed]
            if not idle:
                return
            bare = self._without(refined.world, [part.name for part in idle])
            chosen = bare if len(idle) < len(found) and self._passes(bare) else idle[0].rest
            refined.world, refined.seen = chosen, self._journal.observe([chosen])[0]
            self._name_again(refined)

    def _without(self, world: World, names: Sequence[str]) -> World:
        """Return the world with several of its parts undone."""
        for name in names:
            world = next((part.rest for part in parts(self._base, world) if part.name == name), world)
        return world

    def _name_again(self, refined: Refined) -> None:
        """Let what remains, where it was proposed by itself, say what it shows."""
        cause = self._proposals.get(key_of(refined.world))
        if cause is not None:
            refined.causes = [cause]

    # -- boundaries

    def _find_boundaries(self, refined: Refined) -> None:
        """Turn `name<=good` into `name<bad`, by bisecting the releases between what passes and what fails."""
        for text in asked(refined.world):
            line = read_line(text)
            if line is None or text in asked(self._base) or "<=" not in line.specifier:
                continue
            bad = version_of(self._situation.seen.resolved.get(line.key, ""))
            good = version_of(refined.seen.resolved.get(line.key, ""))
            if bad is None or good is None or good >= bad:
                continue
            known = stable(self._situation.releases(line.key))
            usable = [
                r for r in known if good <= r.version <= bad and installable(r, self._situation.target, sources=False)
            ]
            if len(usable) >= 2:
                self._bisect(refined, text, usable)

    def _come_near(self, refined: Refined, solution: Solution) -> None:
        """Turn a pin that passes into the one that is nearest to what fails, as far as there is time to find it."""
        steps = (*solution.candidate.trail, solution.candidate.hypothesis)
        moved = {text for step in steps if step.mechanism == "another version" for text in asked(step.world)}
        for text in (text for text in asked(refined.world) if text in moved):
            line = read_line(text)
            bad = version_of(self._situation.seen.resolved.get(line.key, "")) if line else None
            good = version_of(line.pin) if line else None
            if line is None or text in asked(self._base) or bad is None or good is None or good == bad:
                continue
            low, high = sorted((good, bad))
            known = (r for r in stable(self._situation.releases(line.key)) if low <= r.version <= high)
            between = [r for r in known if installable(r, self._situation.target, sources=False)]
            between = between if good < bad else between[::-1]
            if len(between) < 2 or between[0].version != good or between[-1].version != bad:
                continue
            if not self._kept(refined, line.key, good):
                continue
            left = self._between(refined, text, between)
            world = replaced(refined.world, text, replace(line, specifier=f"=={left[0].version}").text())
            if left[0].version != good:
                refined.world, refined.seen = world, self._journal.observe([world])[0]
            last, first = left[0].version, left[-1].version
            said = f"{line.name} {last} works, {first} breaks" if len(left) == 2 else ""
            _add(refined, line.name, said)

    def _kept(self, refined: Refined, key: str, good: Version) -> bool:
        """Tell whether a pin is what was installed where it passed, on the Python that was asked for."""
        same_python = refined.world.python == self._base.python
        return same_python and version_of(refined.seen.resolved.get(key, "")) == good

    def _between(self, refined: Refined, text: str, releases: list[Release]) -> list[Release]:
        """Return the releases from the last that is seen to pass to the first that is seen to fail."""
        line = read_line(text)
        for coarse in (series_between(releases), None):
            points = coarse or releases
            if line is None or self._elapsed() > _ENOUGH_SECONDS / 2 or len(points) < 3:
                continue
            good, bad = boundary(
                points,
                lambda release: self._good(refined, text, replace(line, specifier=f"=={release.version}").text()),
                _QUESTIONS,
            )
            low, high = sorted((points[good].version, points[bad].version))
            releases = [r for r in releases if low <= r.version <= high]
        return releases

    def _bisect(self, refined: Refined, text: str, releases: list[Release]) -> None:
        line = read_line(text)
        if line is None:
            return
        releases = self._between(refined, text, releases)
        last, first = releases[0].version, releases[-1].version
        new = (
            replace(line, specifier=f"<{first}").text()
            if len(releases) == 2
            else replace(line, specifier=f"<={last}").text()
        )
        exact = len(releases) == 2
        world = replaced(refined.world, text, new)
        if new != text:
            seen = self._journal.observe([world])[0]
            if not seen.passed:
                return
            refined.world, refined.seen = world, seen
        said = (
            f"{line.name} {last} works, {first} breaks"
            if exact
            else f"{line.name} works up to {last} at least and breaks by {first}"
        )
        _add(refined, line.name, said)

    def _good(self, refined: Refined, text: str, pinned: str) -> bool | None:
        seen = self._journal.observe([replaced(refined.world, text, pinned)])[0]
        return True if seen.passed else (False if seen.built else None)


def _add(refined: Refined, name: str, said: str) -> None:
    """Let the cause of a name say more."""
    refined.causes = [
        cause.model_copy(update={"why": f"{cause.why}; {said}"}) if said and cause.name == name else cause
        for cause in refined.causes
    ]


def _older(one: str, other: str) -> bool:
    first, second = version_of(one), version_of(other)
    return first is not None and second is not None and first < second
