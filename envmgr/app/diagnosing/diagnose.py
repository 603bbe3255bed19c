"""Diagnosis: see it fail where the user stands, find by experiment what makes it work, and say what that shows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from packaging.tags import platform_tags

from envmgr.app.contents import read_contents
from envmgr.app.diagnosing.surroundings import look_around
from envmgr.app.experiments.crew import Crew, Job
from envmgr.app.experiments.laboratory import Laboratory
from envmgr.app.experiments.places import named_places, take_snapshot
from envmgr.app.experiments.standpoint import Place
from envmgr.app.experiments.variables import in_project
from envmgr.app.releases_of_index import Releases, default_index
from envmgr.diagnose import invariants, verdict
from envmgr.diagnose.contents import Contents
from envmgr.diagnose.impossible import impossible_here
from envmgr.diagnose.knowledge import settings
from envmgr.diagnose.mechanisms import surroundings
from envmgr.diagnose.observation import Observation
from envmgr.diagnose.outlook import foresee
from envmgr.diagnose.refine import Refined, Refinement
from envmgr.diagnose.search import Hope, Journal, Search, Solution, key_of
from envmgr.diagnose.situation import HostBrief, Situation, Sources, Surroundings
from envmgr.model.finding import Experiment, Finding, World
from envmgr.ports import Event, Process

MOST_AT_ONCE = 4
"""How many experiments are carried out at a time at most unless the user says otherwise: one a processor."""

MOST_BYTES = 1_500_000_000
"""What one experiment may download unless the user says otherwise: no build for GPUs by the way."""

_WITH_MORE = "try what was too large to download, with a larger --max-download: see experiments"
_MOST_LINES = 200
_LIKELY = 0.6
_CLOCKS = re.compile(
    r"\b(?:time\.time|perf_counter|monotonic|process_time|timeit|timeout|clock_gettime|getrusage|alarm|setitimer)\b"
    r"|\bdatetime\.now\b|(?:_|\b)ns\(\)"
)
_PATIENCE = ((0.15, 0.0), (0.3, 0.1), (1.0, 0.25))


@dataclass(frozen=True, slots=True)
class Question:
    """What is to be diagnosed: a world and the probe (a command, or options of Python alone; its source if it is code).

    `given` are variables with `{venv}` and `{home}` still in them; `budget` is in seconds. `blind` keeps from the
    engine what processes print. `most_bytes` is what one experiment may download; None: no limit. `locked` are the
    versions of a lock that was made for the world, by normalised name.
    """

    world: World
    probe: tuple[str, ...]
    source: str = ""
    given: Mapping[str, str] = field(default_factory=dict)
    budget: float = 300.0
    most: int = 40
    blind: bool = False
    most_bytes: int | None = MOST_BYTES
    locked: Mapping[str, str] = field(default_factory=dict)


def diagnose(question: Question, place: Place) -> Finding | None:
    """Return the finding, or None when nothing is wrong; the user's files are the same afterwards."""
    with place.files.scratch("diagnose") as room:
        return Diagnosis(question, place, room).answer()


class Diagnosis:
    """One diagnosis, from the first run to the verdict."""

    def __init__(self, question: Question, place: Place, room: Path, kept: tuple[Path, ...] = ()) -> None:
        self._question = question
        self._place = place
        self._begun = place.clock.monotonic()
        named = named_places(place.environment, question.given, place.system)
        snapshot = take_snapshot(place.files, place.home, place.folder, named, room / "snapshot")
        self._releases = Releases(place.web, default_index(place.uv, place.process, place.environment))
        bench = replace(
            place.bench(question.probe, question.given, question.budget),
            blind=question.blind,
            most_bytes=question.most_bytes,
            platforms=tuple(platform_tags()),
            kept=kept,
            releases=self._releases,
        )
        self._laboratory = Laboratory(bench, place.process, place.files, place.clock, room, snapshot)
        self._snapshot = snapshot
        self._contents: dict[str, Contents] = {}
        self._values: dict[str, tuple[str, ...]] = {}
        self._base_stood = False
        self._journal_now: Journal | None = None
        hands = 1 if minds_time(question.probe) else place.hands
        self._crew = Crew[Observation](
            hands, place.process, place.clock, lambda seen: not seen.short or not self._affordable()
        )

    def answer(self) -> Finding | None:
        """Return what is found; nothing of it goes on afterwards."""
        with self._crew.at_work(lambda said: self._tell("ahead", "experiments", said)):
            return self.find()

    def find(self) -> Finding | None:
        """See it fail, search, refine, judge."""
        world = self._question.world
        self._place.demand(world.python)
        self._tell("building", "what was asked for")
        seen = self._laboratory.observe(world, in_place=True)
        journal = self._journal(world, seen)
        self._tell("seen", "passed" if seen.passed else f"failed in {seen.phase}: {seen.reading.message[:_MOST_LINES]}")
        situation = self._situation(world, seen)
        if seen.passed:
            return self._judge_invariants(situation, journal)
        return self._search(situation, journal)

    def _journal(self, world: World, seen: Observation) -> Journal:
        """Return a journal that begins with what was seen in a world."""
        self._base_stood = seen.built
        journal = Journal(
            world, self._observe_all, self._affordable, self._narrate, patience=self._patience, afresh=self._afresh
        )
        self._journal_now = journal
        journal.known[world.model_dump_json()] = seen
        return journal

    def _judge_invariants(self, situation: Situation, journal: Journal) -> Finding | None:
        """A probe that passes in an environment that is not what was asked for is a silent failure."""
        broken = invariants.broken(situation)
        if broken is None:
            return None
        repaired = journal.observe([broken.world])[0]
        holds = repaired.passed and invariants.broken(self._situation(broken.world, repaired)) is None
        return verdict.apart(situation, broken, journal.experiments, confirmed=holds)

    def _search(self, situation: Situation, journal: Journal) -> Finding:
        self._releases.prefetch([line.name for line in situation.lines] + sorted(situation.seen.resolved))
        lack = impossible_here(situation)
        if lack is not None and not any(one.likelihood >= _LIKELY for one in surroundings.hypotheses(situation)):
            return verdict.impossible(situation, lack, journal.experiments)

        def refined_in(journal: Journal, solution: Solution) -> Refined:
            return Refinement(journal, situation, self._elapsed).refine(solution)

        search = Search(journal, self._situation, limit=self._question.most)
        search.beyond = lambda solution: foresee(
            lambda other: refined_in(other, solution).world, journal, [solution.world], answers=(True,)
        )
        solution = search.solve(situation.world, situation.seen)
        if solution is None and lack is not None:
            return verdict.impossible(situation, lack, journal.experiments)
        if solution is None:
            untried = any(one.outcome == "not-run" for one in journal.experiments)
            found = verdict.unsolved(situation, journal.experiments, search.furthest)
            return found.model_copy(update={"next": _WITH_MORE, "impossible": ""}) if untried else found
        journal.outlook = lambda pending: foresee(lambda other: refined_in(other, solution).world, journal, pending)
        refined = refined_in(journal, solution)
        confirmed = journal.flips_again(refined.world)
        return verdict.solved(situation, refined, journal.experiments, confirmed=confirmed)

    def _situation(self, world: World, seen: Observation) -> Situation:
        place = self._place
        patches = tuple(sorted(_other_patches(place.interpreters)))
        host = HostBrief(place.system, place.machine, place.accelerators, tuple(platform_tags()), patches)
        sources = Sources(self._releases, self._values_of, self._contents_of)
        around = self._around(self._contents_of(seen))
        pythons = tuple(
            sorted(minor for minor in place.interpreters if minor.count(".") == 1 and minor.startswith("3"))
        )
        asked = self._question
        return Situation(asked.world, world, seen, asked.source, around, host, pythons, sources, asked.locked)

    def _around(self, contents: Contents) -> Surroundings:
        modules = {module: module for module in contents.owners if "." not in module}
        given = in_project({**self._question.given, **self._question.world.variables.set}, self._place.project)
        told = {**self._place.environment, **given}
        return look_around(told, self._place.system, self._snapshot, self._place.files, modules)

    def _contents_of(self, seen: Observation) -> Contents:
        if seen.folder is None:
            return Contents()
        key = str(seen.folder)
        if key not in self._contents:
            self._contents[key] = read_contents(self._place.files, self._laboratory.site_packages(seen.folder))
        return self._contents[key]

    def _values_of(self, name: str, world: World, seen: Observation) -> tuple[str, ...]:
        """Ask the backend itself which values a variable can have."""
        if name not in self._values and seen.folder is not None:
            completed = self._laboratory.ask(world, seen.folder, settings()[name]["ask"])
            lines = completed.stdout.splitlines()
            self._values[name] = tuple(dict.fromkeys(line[2:] for line in lines if line.startswith("@@")))
        return self._values.get(name, ())

    def _observe_all(self, worlds: Sequence[World]) -> Sequence[Observation]:
        return self._at_once([Hope(world) for world in worlds])

    def _afresh(self, worlds: Sequence[World]) -> Sequence[Observation]:
        """Build anew what was seen to pass, and what could not be built: that may have been chance."""
        return self._at_once([Hope(world, again=True) for world in worlds])

    def _at_once(self, wanted: Sequence[Hope]) -> Sequence[Observation]:
        worlds = [one.world for one in wanted]

        def likely() -> list[Job[Observation]]:
            journal = self._journal_now
            affordable = journal is not None and self._affordable()
            return [self._job(hope) for hope in journal.outlook(worlds)] if journal and affordable else []

        return self._crew.now([self._job(one) for one in wanted], likely)

    def _job(self, hope: Hope) -> Job[Observation]:
        world = hope.world
        afresh = hope.again and not (world == self._question.world and self._base_stood)

        def carry_out(process: Process) -> Observation:
            return self._laboratory.through(process).observe(world, afresh=afresh)

        return Job(("again " if hope.again else "") + key_of(world), carry_out)

    def _elapsed(self) -> float:
        return self._place.clock.monotonic() - self._begun

    def _affordable(self) -> bool:
        return self._elapsed() < self._question.budget * 0.8

    def _patience(self) -> float:
        """Ask more of a change the longer the search goes on, so that no budget is burnt on what is hopeless."""
        spent = self._elapsed() / self._question.budget
        return next((least for until, least in _PATIENCE if spent < until), 1.0)

    def _narrate(self, experiment: Experiment) -> None:
        self._tell(
            "tried", experiment.change, f"{experiment.outcome} ({experiment.seconds:.1f} s) {experiment.reason[:120]}"
        )

    def _tell(self, stage: str, subject: str, detail: str = "") -> None:
        self._place.listener.on_event(Event(stage, subject, detail))


def minds_time(probe: Sequence[str]) -> bool:
    """Tell whether a probe looks at a clock, so that it is asked while nothing else runs.

    >>> minds_time(("-c", "import time; assert time.perf_counter() < 5")), minds_time(("-c", "import keras"))
    (True, False)
    """
    return _CLOCKS.search(" ".join(probe)) is not None


def _other_patches(interpreters: Mapping[str, Path]) -> set[str]:
    """Return the full versions of the interpreters that no minor version stands for."""
    minors = {version: version.rpartition(".")[0] for version in interpreters}
    return {
        full for full, minor in minors.items() if minor in interpreters and interpreters[minor] != interpreters[full]
    }
