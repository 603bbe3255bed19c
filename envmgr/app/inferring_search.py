"""Searches by experiment for an environment in which the whole import surface of scripts is there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from envmgr.app.diagnosing_contents import read_contents
from envmgr.app.experimenting import Laboratory
from envmgr.app.inferring_offers import Offers
from envmgr.diagnose.contents import Contents
from envmgr.diagnose.knowledge import cap_for_lost_module, in_standard_library, last_python_with, python_released
from envmgr.diagnose.observation import Observation
from envmgr.diagnose.requirement import key_of
from envmgr.infer.eras import Era, next_era, pythons_of
from envmgr.infer.naming import Names, Wanted, candidates_of
from envmgr.infer.probe import Probe, read_proof
from envmgr.infer.surface import surface_of
from envmgr.infer.syntax import parse
from envmgr.model.finding import Experiment, Variables, World
from envmgr.model.inference import Proof
from envmgr.ports import Clock, Event, Files, Listener

_MOST_ERAS = 7
_MOST_REPAIRS = 5
_NOTHING = "the probe"
_BUILDABLE = "2019-03-01"
"""The first day with a setuptools that builders of today accept: what is older is capped by name instead."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One world that was built or not, what its probe told, and the names that are missing in it (None: not built)."""

    world: World
    era: Era
    seen: Observation
    proof: Proof | None
    missing: frozenset[str] | None

    @property
    def passed(self) -> bool:
        """True when everything required is there."""
        return self.seen.passed


@dataclass
class Quest:
    """What is looked for, and what was learnt of it on the way.

    `companions` are lines for what the libraries import and do not require; `unreachable` tells of modules that no
    candidate installs; `pins` are versions that clocks tell, by distribution; `highest` is the last Python to try.
    """

    wanted: list[Wanted]
    names: Names
    pins: dict[str, str]
    pythons: tuple[str, ...]
    highest: str = ""
    local: frozenset[str] = frozenset()
    companions: dict[str, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    dropped: set[str] = field(default_factory=set)
    unreachable: dict[str, str] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    why: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        """Remember why something was chosen, once."""
        if text not in self.why:
            self.why.append(text)


@dataclass(frozen=True)
class Means:
    """What a search works with; `probe_for` makes the probe without some modules, `affordable` tells of time."""

    laboratory: Laboratory
    offers: Offers
    files: Files
    clock: Clock
    listener: Listener
    probe_for: Callable[[frozenset[str], bool], Probe]
    affordable: Callable[[], bool]


class EraSearch:
    """Tries days, each with a Python of its time, until one has every name."""

    def __init__(self, quest: Quest, means: Means) -> None:
        self.quest = quest
        self.means = means
        self.attempts: list[Attempt] = []
        self.experiments: list[Experiment] = []
        self.glances = True

    def search(self, days: Sequence[str], starts: Sequence[int]) -> Attempt | None:
        """Return the attempt that passed, else the one that came nearest, None when nothing could be built."""
        self._set_aside(days)
        tried: dict[int, frozenset[str] | None] = {}
        for _ in range(_MOST_ERAS):
            at = next_era(len(days), tried, starts)
            while at is not None and self.era(days[at]) is None:
                tried[at] = None
                at = next_era(len(days), tried, starts)
            if at is None or not self.means.affordable():
                break
            attempt = self.attempt(days[at])
            if attempt is not None and attempt.passed:
                return attempt
            tried[at] = attempt.missing if attempt is not None else None
        return self._seen_whole()

    def _seen_whole(self) -> Attempt | None:
        """Return the nearest attempt with everything that it lacks: from now on files alone are not enough."""
        self.glances = False
        nearest = self.nearest
        if nearest is None or not (nearest.proof and nearest.proof.glanced):
            return nearest
        return self.attempt(nearest.era.day) or nearest

    def _set_aside(self, days: Sequence[str]) -> None:
        """Give up what has no release that could be had on any day, for any Python here."""
        for one in self.required:
            eras = (Era(day, python) for day in reversed(days) for python in self.quest.pythons)
            if not any(self.means.offers.best(one, era) for era in eras):
                why = f"{one.candidates[0]} has no release for what is here, or only ones that are too large"
                self.quest.unreachable[one.module] = why

    @property
    def nearest(self) -> Attempt | None:
        """The attempt in which the fewest names are missing, the latest of them."""
        built = [one for one in self.attempts if one.missing is not None]
        return min(built, key=_distance) if built else None

    def era(self, day: str) -> Era | None:
        """Return the era of a day: with the newest Python of its time for which everything required can be had."""
        known = [
            each
            for each in self.quest.pythons
            if not self.quest.highest or _number(each) <= _number(self.quest.highest)
        ]
        released = {each: python_released(each) for each in known}
        for python in pythons_of(day, known, released) if known else ():
            era = Era(day, python)
            if all(self.means.offers.best(one, era) for one in self.required):
                return era
        return None

    @property
    def required(self) -> list[Wanted]:
        """What cannot be done without."""
        return [one for one in self.quest.wanted if one.required and one.module not in self.quest.unreachable]

    def attempt(self, day: str) -> Attempt | None:
        """Try a day; what the libraries turn out to lack there is given to them, as far as it is told."""
        attempt: Attempt | None = None
        for _ in range(_MOST_REPAIRS):
            era = self.era(day)
            if era is None:
                break
            attempt = self.observe(self.world(era), era)
            if attempt.passed or not self.means.affordable() or not self._learn(attempt):
                break
        return attempt

    def world(self, era: Era) -> World:
        """Return the world of an era."""
        lines: dict[str, str] = {}
        for one in self.quest.wanted:
            if one.module in self.quest.unreachable or (not one.required and one.module in self.quest.dropped):
                continue
            line = self._pinned(one, era) or self.means.offers.best(one, era)
            if line:
                lines.setdefault(key_of(line), line)
        for line in self.quest.lines:
            lines.setdefault(key_of(line), line)
        return World(
            python=era.python,
            requirements=tuple(lines.values()),
            exclude_newer=max(era.day, _BUILDABLE) if era.day else "",
            variables=Variables(set=self.quest.variables),
        )

    def observe(self, world: World, era: Era) -> Attempt:
        """Build and probe one world, and note what was seen."""
        probe = self.means.probe_for(frozenset(self.quest.unreachable), self.glances)
        laboratory = self.means.laboratory
        laboratory.bench = replace(laboratory.bench, probe=("-c", probe.code))
        seen = laboratory.observe(world)
        proof = read_proof(seen.text, passed=seen.passed)
        missing: frozenset[str] | None = None
        if seen.built:
            lacking = (each.name for each in proof.missing if each.required) if proof else (_NOTHING,)
            missing = frozenset() if seen.passed else (frozenset(lacking) or frozenset((_NOTHING,)))
        attempt = Attempt(world, era, seen, proof, missing)
        self.attempts.append(attempt)
        self._note(attempt)
        return attempt

    def contents(self, attempt: Attempt) -> Contents:
        """Return what is installed in an attempt's environment."""
        if attempt.seen.folder is None:
            return Contents()
        return read_contents(self.means.files, self.means.laboratory.site_packages(attempt.seen.folder))

    def _pinned(self, one: Wanted, era: Era) -> str:
        for name in one.candidates:
            version = self.quest.pins.get(name)
            if version and any(
                _is_of(str(release.version), version) for release in self.means.offers.fitting(name, era)
            ):
                return f"{name}=={version}" + (".*" if version.count(".") < 2 else "")  # noqa: PLR2004 - major.minor
        return ""

    def _learn(self, attempt: Attempt) -> bool:
        """Take from a failure what can be helped on the same day; tell whether there is something new to try."""
        if attempt.missing is None:
            return self._drop_optional()
        contents = self.contents(attempt)
        learnt = False
        said = attempt.seen.reading
        for module in dict.fromkeys((*_missing_modules(attempt.proof), *said.modules)):
            top = module.split(".")[0]
            if top in self.quest.local or contents.has(top):
                continue
            learnt |= self._give(top, contents)
        for module, name in said.names:
            learnt |= self._older(last_python_with(module, name), f"{module}.{name}")
        learnt = learnt or any(self._give(top, contents) for top in self._hidden(attempt, contents))
        return learnt or (bool(said.libraries) and self._rival_of(attempt))

    def _give(self, top: str, contents: Contents) -> bool:
        """Find a distribution for a module that is nowhere in an environment."""
        quest = self.quest
        lost, first_without = cap_for_lost_module(top)
        if lost:
            return self._add_line(f"{lost}<{first_without}" if first_without else f"{lost}<81", top)
        if in_standard_library(top):
            return self._older(last_python_with(top), top)
        for at, one in enumerate(quest.wanted):
            if one.module != top:
                continue
            rest = tuple(name for name in one.candidates if name not in contents.by_name)
            if rest and len(rest) < len(one.candidates):
                quest.wanted[at] = replace(one, candidates=rest)
                quest.note(f"{', '.join(set(one.candidates) - set(rest))} does not install {top}")
            elif one.required and not rest:
                quest.unreachable[top] = (
                    f"{', '.join(one.candidates)} does not install it, and nothing else is known to"
                )
            else:
                return False
            return True
        candidates = candidates_of(top, quest.names)
        if not candidates or top in quest.companions:
            return False
        quest.companions[top] = candidates[0]
        quest.wanted.append(Wanted(top, candidates, required=True))
        quest.note(f"{candidates[0]} is there for {top}, which the libraries import and do not require")
        return True

    def _hidden(self, attempt: Attempt, contents: Contents) -> list[str]:
        """Return what installed code imports where it defines a missing name: without that the name is not there."""
        found: dict[str, None] = {}
        site = {path.name: path for path in self.means.laboratory.site_packages(attempt.seen.folder or Path())}
        for each in attempt.proof.missing if attempt.proof else ():
            *parts, name = each.name.split(".")
            if not each.required or not parts or parts[0] not in site:
                continue
            package = site[parts[0]].joinpath(*parts[1:])
            for path in self.means.files.list(package):
                text = (self.means.files.read(path) or "") if path.suffix == ".py" else ""
                if not re.search(rf"^(?:def|class) {re.escape(name)}\b|^{re.escape(name)} *=", text, re.MULTILINE):
                    continue
                tree = parse(text).tree
                tops = surface_of(tree).tops if tree is not None else ()
                found.update(
                    dict.fromkeys(top for top in tops if not contents.has(top) and not in_standard_library(top))
                )
        return list(found)

    def _add_line(self, line: str, module: str) -> bool:
        if line in self.quest.lines:
            return False
        self.quest.lines.append(line)
        self.quest.note(f"{line} has {module}, which the libraries import")
        return True

    def _older(self, python: str, what: str) -> bool:
        """Remember that what is looked for was last in an older Python."""
        if (
            not python
            or python.startswith("2")
            or (self.quest.highest and _number(self.quest.highest) <= _number(python))
        ):
            return False
        self.quest.highest = python
        self.quest.note(f"Python {python} was the last to have {what}")
        return True

    def _rival_of(self, attempt: Attempt) -> bool:
        """Take another build of a distribution whose system libraries this host lacks."""
        broken = {each.module.split(".")[0] for each in (attempt.proof.missing if attempt.proof else ())}
        for at, one in enumerate(self.quest.wanted):
            first, *rest = self.means.offers.candidates(one)
            if one.module in broken and rest:
                self.quest.wanted[at] = replace(one, candidates=(*rest,))
                self.quest.note(f"{rest[0]} instead of {first}, which needs libraries that this host lacks")
                return True
        return False

    def _drop_optional(self) -> bool:
        """Leave out what scripts can do without, when an environment with it cannot be built."""
        optional = {one.module for one in self.quest.wanted if not one.required} - self.quest.dropped
        self.quest.dropped |= optional
        if optional:
            self.quest.note(f"without {', '.join(sorted(optional))}: it cannot be built beside the rest")
        return bool(optional)

    def _note(self, attempt: Attempt) -> None:
        outcome = "passed" if attempt.passed else ("failed" if attempt.seen.built else "not-buildable")
        day = f"as of {attempt.era.day}" if attempt.era.day else "the newest"
        change = f"Python {attempt.world.python}, {day}: {', '.join(attempt.world.requirements)}"
        missing = sorted(attempt.missing or ())
        reason = f"missing: {', '.join(missing)}" if missing and missing != [_NOTHING] else attempt.seen.reading.message
        experiment = Experiment.model_validate(
            {
                "change": change,
                "outcome": outcome,
                "phase": attempt.seen.phase,
                "reason": "" if attempt.passed else reason[:300],
                "seconds": round(attempt.seen.seconds, 2),
            }
        )
        self.experiments.append(experiment)
        told = f"{outcome} ({experiment.seconds:.1f} s) {experiment.reason[:160]}"
        self.means.listener.on_event(Event("tried", change, told))


def _missing_modules(proof: Proof | None) -> Iterable[str]:
    if proof is None:
        return ()
    marks = (each.why.partition("No module named ") for each in proof.missing if each.required)
    return [rest.strip("'\" ").split("'")[0] for _, found, rest in marks if found]


def _distance(attempt: Attempt) -> tuple[bool, bool, int, bool]:
    """Return how far an attempt is from what is wanted: what was only glanced at is farther than what was tried."""
    glanced = attempt.proof is not None and attempt.proof.glanced
    return not attempt.passed, glanced, len(attempt.missing or ()), attempt.era.day == ""


def _is_of(version: str, series: str) -> bool:
    return version == series or version.startswith(f"{series}.")


def _number(minor: str) -> tuple[int, ...]:
    return tuple(int(part) for part in minor.split("."))
