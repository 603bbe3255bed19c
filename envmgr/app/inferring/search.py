"""Searches by experiment for an environment in which the whole import surface of scripts is there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta

from packaging.version import Version

from envmgr.app.inferring.lessons import Lessons
from envmgr.app.inferring.quest import Attempt, Means, Quest, number_of
from envmgr.diagnose.knowledge import python_released
from envmgr.diagnose.observation import experiment_of
from envmgr.diagnose.requirement import key_of
from envmgr.infer.eras import Era, next_era, pythons_of
from envmgr.infer.naming import Wanted
from envmgr.infer.probe import Probe, read_proof
from envmgr.model.finding import Experiment, World
from envmgr.ports import Event

_MOST_ERAS = 7
_MOST_REPAIRS = 5
_ENOUGH_DAYS = 3
_NOTHING = "the probe"
_BUILDABLE = "2019-03-01"
"""The first day with a setuptools that builders of today accept: what is older is capped by name instead."""


class EraSearch:
    """Tries days, each with a Python of its time, until one has every name."""

    def __init__(self, quest: Quest, means: Means) -> None:
        self.quest = quest
        self.means = means
        self._lessons = Lessons(quest, means)
        self.attempts: list[Attempt] = []
        self.experiments: list[Experiment] = []
        self.glances = True

    def search(self, days: Sequence[str], starts: Sequence[int]) -> Attempt | None:
        """Return the attempt that passed, else the one that came nearest, None when nothing could be built."""
        self._set_aside(days)
        feasible = [at for at, day in enumerate(days) if self.era(day) is not None]
        nearest = [min(feasible, key=lambda at: abs(at - start)) for start in starts if feasible]
        starts, days = [feasible.index(at) for at in nearest], [days[at] for at in feasible]
        tried: dict[int, frozenset[str] | None] = {}
        foreseen = self._foreseen(days, dict.fromkeys((*starts, *range(len(days)))))
        for _ in range(_MOST_ERAS):
            at = next_era(len(days), tried, starts, foreseen)
            while at is not None and self.era(days[at]) is None:
                tried[at] = None
                at = next_era(len(days), tried, starts, foreseen)
            if at is None or not self.means.affordable():
                break
            attempt = self.attempt(days[at])
            if attempt is not None and attempt.passed:
                return attempt
            tried[at] = attempt.missing if attempt is not None else None
            ends = (0, len(days) - 1)
            if self._is_as_near_as_can_be() and all(
                end in tried or self.lost <= foreseen.get(end, frozenset()) for end in ends
            ):
                break
        return self._seen_whole()

    @property
    def lost(self) -> frozenset[str]:
        """The names that were missing in whatever was built, on three days at least."""
        missing = {one.era.day: one.missing for one in self.attempts if one.missing is not None}
        return frozenset.intersection(*missing.values()) if len(missing) >= _ENOUGH_DAYS else frozenset()

    def _is_as_near_as_can_be(self) -> bool:
        """Tell whether the nearest attempt lacks only what every day lacks."""
        nearest = self.nearest
        return nearest is not None and bool(self.lost) and nearest.missing == self.lost

    def _foreseen(self, days: Sequence[str], order: Iterable[int]) -> dict[int, frozenset[str]]:
        """Return what eras lack by the look of wheels that were unpacked here before."""
        eras = {at: era for at in order if (era := self.era(days[at])) is not None}
        foreseen = self.means.foresight.of(eras, self.required)
        lacking = sum(map(bool, foreseen.values()))
        if lacking:
            told = f"{lacking} of {len(days)} days, by the look of wheels that are here"
            self.means.listener.on_event(Event("foreseen", "what is missing on", told))
        return foreseen

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
                until = f" up to {days[0]}" if len(days) == 1 and days[0] else ""
                why = f"{one.candidates[0]} has no release{until} for what is here, or only ones that are too large"
                self.quest.unreachable[one.module] = why

    @property
    def nearest(self) -> Attempt | None:
        """The attempt in which the fewest names are missing, the latest of them."""
        built = [one for one in self.attempts if one.missing is not None]
        return min(built, key=_distance) if built else None

    def passed_late(self, attempt: Attempt) -> bool:
        """Tell of an attempt that passed when so much time has gone by that a nearer one is not worth more."""
        return attempt.passed and not self.means.leisurely()

    def era(self, day: str) -> Era | None:
        """Return the era of a day: with the newest Python of its time for which everything required can be had."""
        known = [
            each
            for each in self.quest.pythons
            if not self.quest.highest or number_of(each) <= number_of(self.quest.highest)
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
            if attempt.passed or not self.means.affordable() or not self._lessons.learn(attempt):
                break
        return attempt

    def world(self, era: Era) -> World:
        """Return the world of an era."""
        lines: dict[str, str] = {}
        for one in self.quest.wanted:
            if one.module in self.quest.unreachable or (not one.required and one.module in self.quest.dropped):
                continue
            line = self._lifted(self._pinned(one, era) or self.means.offers.best(one, era), era)
            if line:
                lines.setdefault(key_of(line), line)
        for line in self.quest.lines:
            lines.setdefault(key_of(line), line)
        return World(
            python=era.python,
            requirements=tuple(lines.values()),
            exclude_newer=max(era.day, _BUILDABLE, *self._days_of_floors(lines)) if era.day else "",
        )

    def _lifted(self, line: str, era: Era) -> str:
        """Return a line for the first release that can be installed at all, where those of an era cannot."""
        floor = self.quest.floors.get(key_of(line)) if line else ""
        fitting = self.means.offers.fitting(key_of(line), era) if floor else ()
        older = bool(fitting) and fitting[-1].version < Version(floor or "0")
        return f"{key_of(line)}=={floor}" if older else line

    def _days_of_floors(self, lines: Mapping[str, str]) -> Iterator[str]:
        """Yield the days after which the releases came out that stand instead of older ones."""
        for name, floor in self.quest.floors.items():
            day = self.means.offers.uploaded(name, floor) if lines.get(name) == f"{name}=={floor}" else ""
            if day:
                yield (date.fromisoformat(day) + timedelta(days=1)).isoformat()

    def observe(self, world: World, era: Era) -> Attempt:
        """Build and probe one world, and note what was seen."""
        probe = self.probe()
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

    def probe(self) -> Probe:
        """Return the probe for all that can be there."""
        return self.means.probe_for(frozenset(self.quest.unreachable), self.glances)

    def _pinned(self, one: Wanted, era: Era) -> str:
        for name in one.candidates:
            version = self.quest.pins.get(name)
            if version and any(
                _is_of(str(release.version), version) for release in self.means.offers.fitting(name, era)
            ):
                return f"{name}=={version}" + (".*" if version.count(".") < 2 else "")  # noqa: PLR2004 - major.minor
        return ""

    def _note(self, attempt: Attempt) -> None:
        day = f"as of {attempt.era.day}" if attempt.era.day else "the newest"
        change = f"Python {attempt.world.python}, {day}: {', '.join(attempt.world.requirements)}"
        missing = sorted(attempt.missing or ())
        experiment = experiment_of(change, attempt.seen)
        if missing and missing != [_NOTHING] and not attempt.passed:
            experiment = experiment.model_copy(update={"reason": f"missing: {', '.join(missing)}"[:300]})
        self.experiments.append(experiment)
        told = f"{experiment.outcome} ({experiment.seconds:.1f} s) {experiment.reason[:160]}"
        self.means.listener.on_event(Event("tried", change, told))


def _distance(attempt: Attempt) -> tuple[bool, bool, int, bool]:
    """Return how far an attempt is from what is wanted: what was only glanced at is farther than what was tried."""
    glanced = attempt.proof is not None and attempt.proof.glanced
    return not attempt.passed, glanced, len(attempt.missing or ()), attempt.era.day == ""


def _is_of(version: str, series: str) -> bool:
    return version == series or version.startswith(f"{series}.")
