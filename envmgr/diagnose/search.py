"""The search: experiments in the order of their worth, deeper where a failure moved on, until one passes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from envmgr.diagnose.mechanisms import ALL
from envmgr.diagnose.observation import Observation, experiment_of
from envmgr.diagnose.requirement import read_line
from envmgr.diagnose.situation import Hypothesis, Situation
from envmgr.diagnose.worlds import asked, describe
from envmgr.model.finding import Cause, Experiment, World
from envmgr.model.outcome import Phase

Oracle = Callable[[Sequence[World]], Sequence[Observation]]
"""Builds and probes worlds, in parallel, and returns what was seen in the same order."""


@dataclass(frozen=True)
class Hope:
    """A world that will probably be asked for: to be seen, or to be seen `again` in a build of its own."""

    world: World
    again: bool = False

    def __hash__(self) -> int:
        return hash((key_of(self.world), self.again))


SituationOf = Callable[[World, Observation], Situation]

_BOUND = re.compile(r"[=<]=\s*([^,;\s]+)")
_DEEPEST = 3
_LEAST_LIKELY = 0.04
_NEARLY_SURE = 0.8
_LIKELY = 0.5


@dataclass(frozen=True, slots=True)
class Candidate:
    """A hypothesis with those that led to it."""

    hypothesis: Hypothesis
    trail: tuple[Hypothesis, ...] = ()
    factor: float = 1.0

    @property
    def rank(self) -> float:
        """Higher is sooner."""
        return self.hypothesis.rank * self.factor

    @property
    def likelihood(self) -> float:
        """What is left of the likelihood after all that led here."""
        return self.hypothesis.likelihood * self.factor

    @property
    def causes(self) -> tuple[Cause, ...]:
        """The causes that it would prove, the first change first."""
        return tuple(step.cause for step in (*self.trail, self.hypothesis))


@dataclass(frozen=True, slots=True)
class Solution:
    """A world that passes, how it was seen, what led to it.

    `proposals` are the causes that every change proposed would show, by world; `others` passed as well.
    """

    world: World
    seen: Observation
    candidate: Candidate
    proposals: Mapping[str, Cause] = field(default_factory=dict)
    others: tuple[Hypothesis, ...] = ()


@dataclass
class Journal:
    """Every experiment so far, and whether there is time for another.

    `patience` is how likely a change must be to be worth an experiment by now; `afresh` observes in new builds.
    `outlook` tells of worlds that are about to be seen what will probably be asked then.
    """

    base: World
    oracle: Oracle
    affordable: Callable[[], bool]
    narrate: Callable[[Experiment], None]
    patience: Callable[[], float] = lambda: _LEAST_LIKELY
    experiments: list[Experiment] = field(default_factory=list)
    known: dict[str, Observation] = field(default_factory=dict)
    afresh: Oracle | None = None
    outlook: Callable[[Sequence[World]], Sequence[Hope]] = lambda _: ()

    def observe(self, worlds: Sequence[World]) -> list[Observation]:
        """Return what is seen in each world; a world that was seen before is not built again."""
        fresh = {key_of(world): world for world in worlds if key_of(world) not in self.known}
        for (key, world), seen in zip(fresh.items(), self.oracle(tuple(fresh.values())), strict=True):
            self.known[key] = seen
            self.note(world, seen)
        return [self.known[key_of(world)] for world in worlds]

    def flips_again(self, world: World) -> bool:
        """Build and probe the base and a world once more; tell whether the first fails and the second passes again."""
        self.outlook = lambda _: ()
        pair = (self.base, world)
        seen = (self.afresh or self.oracle)(pair)
        for one, result in zip(pair, seen, strict=True):
            self.note(one, result)
        return not seen[0].passed and seen[1].passed

    def imagined(self, world: World, *, passed: bool = True) -> Observation:
        """Return how a world would be seen if it passed or failed: as the base, with the versions that it names."""
        base = self.known[key_of(self.base)]
        lines = (read_line(text) for text in asked(world))
        named = {line.key: _BOUND.search(line.specifier) for line in lines if line is not None}
        resolved = {**base.resolved, **{name: match[1] for name, match in named.items() if match}}
        return replace(base, resolved=resolved, text="", passed=passed, phase=None if passed else base.phase)

    def note(self, world: World, seen: Observation) -> None:
        """Take note of an experiment and tell of it."""
        experiment = experiment_of(describe(self.base, world), seen)
        self.experiments.append(experiment)
        self.narrate(experiment)


def key_of(world: World) -> str:
    """Return a text that is equal for equal worlds."""
    return world.model_dump_json()


class Search:
    """Looks for a world that passes."""

    def __init__(self, journal: Journal, situation_of: SituationOf, *, width: int = 2, limit: int = 40) -> None:
        self.beyond: Callable[[Solution], Sequence[Hope]] = lambda _: ()
        """What will be asked when a solution has been found."""
        self._journal = journal
        self._situation_of = situation_of
        self._width = width
        self._limit = limit
        self._queue: list[Candidate] = []
        self._queued: set[str] = set()
        self._proposals: dict[str, Cause] = {}
        self.furthest: tuple[Cause, ...] = ()
        """What the changes show that made the failure move on, where nothing passes."""

    def solve(self, world: World, seen: Observation) -> Solution | None:
        """Return the first world that passes, or None when the queue, the budget or the hope is spent."""
        self._queued.add(key_of(world))
        self._expand(world, seen, (), 1.0)
        while self._queue and self._journal.affordable() and len(self._journal.experiments) < self._limit:
            batch = self._next_batch()
            if not batch:
                return None
            self._journal.outlook = partial(self._likely_after, batch)
            seen_all = self._journal.observe([candidate.hypothesis.world for candidate in batch])
            passing = [pair for pair in zip(batch, seen_all, strict=True) if pair[1].passed]
            if passing:
                return self._solution(passing)
            for candidate, result in zip(batch, seen_all, strict=True):
                self._go_on_from(candidate, result)
        return None

    def _likely_after(self, batch: Sequence[Candidate], _pending: Sequence[World]) -> list[Hope]:
        """Return what will be asked if the first of a batch passes, where that is likely, and what is likely if not."""
        first = batch[0]
        hopes: list[Hope] = []
        if first.likelihood >= _LIKELY:
            hopes += self.beyond(self._solution([(first, self._journal.imagined(first.hypothesis.world))]))
        return hopes + [Hope(one.hypothesis.world) for one in self._queue[:1] if one.likelihood >= _LIKELY]

    def _solution(self, passing: list[tuple[Candidate, Observation]]) -> Solution:
        """Prefer what leaves the user's own wishes alone; what passes besides is an alternative."""
        passing.sort(key=lambda pair: bool(pair[0].hypothesis.gives_up))
        (candidate, seen), *rest = passing
        others = tuple(other.hypothesis for other, _ in rest)
        return Solution(candidate.hypothesis.world, seen, candidate, self._proposals, others)

    def _next_batch(self) -> list[Candidate]:
        self._queue.sort(key=lambda candidate: -candidate.rank)
        sure = bool(self._queue) and self._queue[0].likelihood >= _NEARLY_SURE
        width = 1 if sure else self._width
        batch, self._queue = self._queue[:width], self._queue[width:]
        least = max(_LEAST_LIKELY, self._journal.patience())
        return [candidate for candidate in batch if candidate.likelihood >= least]

    def _go_on_from(self, candidate: Candidate, seen: Observation) -> None:
        """Look further where a change made the failure come later."""
        before = self._journal.known.get(key_of(candidate.trail[-1].world)) if candidate.trail else None
        reference = before or self._journal.known[key_of(self._journal.base)]
        trail = (*candidate.trail, candidate.hypothesis)
        if len(trail) >= _DEEPEST or not (seen.later_than(reference) or _brought_another(candidate, seen, reference)):
            return
        moved_on = (
            seen.built != reference.built or seen.phase != reference.phase or bool(seen.moved_in_the_probe(reference))
        )
        if moved_on and len(trail) > len(self.furthest):
            self.furthest = candidate.causes
        factor = candidate.factor * min(1.0, candidate.hypothesis.likelihood + 0.25) * (0.9 if moved_on else 0.75)
        self._expand(candidate.hypothesis.world, seen, trail, factor)

    def _expand(self, world: World, seen: Observation, trail: tuple[Hypothesis, ...], factor: float) -> None:
        situation = self._situation_of(world, seen)
        for mechanism in ALL:
            for hypothesis in mechanism(situation):
                key = key_of(hypothesis.world)
                if not trail:
                    self._proposals.setdefault(key, hypothesis.cause)
                if key in self._queued:
                    self._raise_rank(key, Candidate(hypothesis, trail, factor))
                    continue
                self._queued.add(key)
                self._queue.append(Candidate(hypothesis, trail, factor))

    def _raise_rank(self, key: str, candidate: Candidate) -> None:
        """Keep the likelier of two ways to the same world."""
        for at, other in enumerate(self._queue):
            if key_of(other.hypothesis.world) == key and other.rank < candidate.rank:
                self._queue[at] = candidate
                return


def _brought_another(candidate: Candidate, seen: Observation, reference: Observation) -> bool:
    """Tell whether a change has brought a failure of its own: another version that lacks the companions of its time.

    What was missing may be built from source, and the build may need more.
    """
    mechanism = candidate.hypothesis.mechanism
    if mechanism == "add what is missing":
        return reference.built and seen.phase == Phase.BUILD and not seen.refused
    moved = mechanism == "another version" and seen.built and reference.built
    return moved and bool(seen.text) and seen.reading.signature != reference.reading.signature
