"""Diagnosis of an environment that the user has: seen failing where it stands, rebuilt apart, explained by trials."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from envmgr.app.contents import read_contents
from envmgr.app.diagnosing.damage import damage_of, prove
from envmgr.app.diagnosing.diagnose import Diagnosis, Question
from envmgr.app.diagnosing.standing import Own
from envmgr.app.experiments.standpoint import Place
from envmgr.app.experiments.variables import steered_installers
from envmgr.app.installed import site_packages
from envmgr.diagnose.damage import as_cause
from envmgr.diagnose.evidence import evidence
from envmgr.diagnose.observation import Observation
from envmgr.diagnose.standing import differing, pinned_as_found, same_failure, worlds
from envmgr.model.finding import Cause, Evidence, Finding, Fix, World
from envmgr.model.outcome import Phase

_TRIED = 5
_QUOTED = 8


def diagnose_own(question: Question, own: Own, place: Place) -> Finding | None:
    """Return the finding for an environment that stands, or None when nothing is wrong; nothing is written to it."""
    interpreters = dict(place.interpreters)
    minor = ".".join(own.version.split(".")[:2])
    interpreters.setdefault(own.version, own.python)
    interpreters.setdefault(minor, interpreters[own.version])
    place = replace(place, interpreters=interpreters)
    python = minor if interpreters[minor] == interpreters[own.version] else own.version
    with place.files.scratch("diagnose") as room:
        return OwnDiagnosis(replace(question, world=World(python=python)), place, room, own).answer()


class OwnDiagnosis(Diagnosis):
    """One diagnosis of what the user has."""

    def __init__(self, question: Question, place: Place, room: Path, own: Own) -> None:
        super().__init__(question, place, room, kept=(own.prefix,))
        self._own = own
        self._contents[str(own.prefix)] = read_contents(place.files, site_packages(place.files, own.prefix))

    def find(self) -> Finding | None:
        """See it fail where it stands, rebuild it, and search from there; what does not come again is its state."""
        self._tell("seen", str(self._own.prefix), "the probe runs in it")
        seen = self._look(self._question.world)
        self._tell("seen", "passed" if seen.passed else f"failed in {seen.phase}: {seen.reading.message}")
        candidates = self._candidates()
        if seen.passed:
            self._question = replace(self._question, world=candidates[0])
            return self._judge_invariants(self._situation(candidates[0], seen), self._journal(candidates[0], seen))
        return self._explain(seen, candidates)

    def _look(self, world: World) -> Observation:
        own = self._own
        seen = self._laboratory.observe_standing(world, own.prefix, own.python)
        return replace(seen, resolved=own.standing.resolved)

    def _candidates(self) -> tuple[World, ...]:
        own, python = self._own, self._question.world.python
        pip = own.standing.by_name.get("pip")
        steered = steered_installers(self._place.environment, self._snapshot.names)
        installer = f"pip=={pip.version}" if pip and steered else ""
        return worlds(own.standing, python, pip=installer)

    def _explain(self, seen: Observation, candidates: tuple[World, ...]) -> Finding:
        """Rebuild what may be the same, until one fails the same way; what passes although it is the same tells too."""
        waiting, tried = list(candidates), list[tuple[World, Observation]]()
        while waiting and len(tried) < _TRIED and self._affordable():
            world = waiting.pop(0)
            again = self._laboratory.observe(world)
            tried.append((world, again))
            unlike = differing(self._own.standing, again.resolved)
            self._tell("rebuilt", self._told(world), _outcome(again, seen, unlike))
            if same_failure(again, seen):
                return self._search_from(world, again)
            if again.passed and not unlike:
                return self._its_state(world, again, seen)
            pinned = pinned_as_found(world, self._own.standing, again.resolved) if again.built else world
            if pinned != world and all(pinned != other for other, _ in tried):
                waiting.insert(0, pinned)
        passing = next(((world, again) for world, again in tried if again.passed), None)
        if passing is not None:
            return self._its_state(*passing, seen)
        standing = next((world for world, again in reversed(tried) if again.built), candidates[0])
        return self._search_from(standing, seen)

    def _told(self, world: World) -> str:
        count = len(world.requirements) or sum(len(step.install) for step in world.steps)
        return f"{count} requirements in {len(world.steps) or 1} steps"

    def _search_from(self, world: World, seen: Observation) -> Finding:
        self._question = replace(self._question, world=world)
        finding = self._search(self._situation(world, seen), self._journal(world, seen))
        return finding.model_copy(update={"evidence": (*finding.evidence, *self._order_of(world))})

    def _order_of(self, world: World) -> tuple[Evidence, ...]:
        """Return the order of installs as it was read, where it tells something."""
        steps = world.steps if len(world.steps) > 1 else ()
        said = (" ".join((*step.install, *(f"without {name}" for name in step.uninstall))) for step in steps)
        return tuple(
            Evidence(quote=f"installed {number}.: {text}", where="the times of its dist-info")
            for number, text in enumerate(said, 1)
        )

    def _its_state(self, world: World, again: Observation, seen: Observation) -> Finding:
        """Explain a failure that a rebuilt environment does not have: by its files, or by other versions."""
        self._question = replace(self._question, world=world)
        journal = self._journal(world, seen)
        damage = damage_of(self._own, self._place.files, self._place.process, seen.reading)
        proven = prove(
            self._laboratory, self._place.files, world, self._own, damage, lambda other: same_failure(other, seen)
        )
        causes = tuple(as_cause(one) for one in proven)
        if not causes:
            causes = self._by_versions(again) or (
                Cause(kind="env-state", name=self._own.prefix.name, why="built anew from the same versions it passes"),
            )
        quoted = tuple(Evidence(quote=line, where="its files against RECORD") for one in damage for line in one.told)
        fails_again = not self._look(world).passed
        fresh = self._laboratory.observe(world, afresh=True)
        journal.note(world, fresh)
        return Finding(
            phase=seen.phase or Phase.RUN,
            cause=causes[0],
            causes=causes,
            check="the probe",
            evidence=(*quoted[:_QUOTED], *evidence(self._situation(world, seen), causes)),
            experiments=tuple(journal.experiments),
            fix=Fix(steps=world.steps) if world.steps else Fix(requirements=world.requirements),
            confirmed=fails_again and fresh.passed,
        )

    def _by_versions(self, again: Observation) -> tuple[Cause, ...]:
        """Return what the environment has in another version than a fresh one."""
        there, fresh = self._own.standing.resolved, again.resolved
        names = differing(self._own.standing, fresh)
        whys = {
            name: f"{name} is {there.get(name, 'not there')}; a fresh installation, which passes, has "
            f"{fresh.get(name, 'none')}"
            for name in names
        }
        return tuple(Cause(kind="package", name=name, why=why) for name, why in whys.items())


def _outcome(again: Observation, seen: Observation, unlike: tuple[str, ...]) -> str:
    versions = f"other versions of {', '.join(unlike[:4])}" if unlike else "the same versions"
    if again.passed:
        return f"passed, with {versions}"
    return f"{'failed alike' if same_failure(again, seen) else f'failed otherwise in {again.phase}'}, with {versions}"
