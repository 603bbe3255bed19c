"""The verdict: what was found, said honestly, with the evidence quoted."""

from __future__ import annotations

from collections.abc import Sequence

from envmgr.diagnose import invariants
from envmgr.diagnose.causes import distinct
from envmgr.diagnose.evidence import evidence
from envmgr.diagnose.impossible import Impossible
from envmgr.diagnose.invariants import Broken
from envmgr.diagnose.knowledge import distributions_for
from envmgr.diagnose.mechanisms import repair
from envmgr.diagnose.refine import Refined
from envmgr.diagnose.situation import Hypothesis, Situation, names_from
from envmgr.diagnose.worlds import difference
from envmgr.model.finding import Alternative, Cause, Evidence, Experiment, Finding, Fix
from envmgr.model.outcome import Phase


def solved(situation: Situation, refined: Refined, experiments: Sequence[Experiment], *, confirmed: bool) -> Finding:
    """Return the finding for a change that was seen to work."""
    mixed = invariants.mixed_builds(situation.seen.resolved)
    unmixed = mixed is not None and invariants.mixed_builds(refined.seen.resolved) is None
    causes = distinct([mixed, *refined.causes] if mixed and unmixed else refined.causes)
    others = (other for other in refined.others if other.world != refined.world)
    alternatives = [Alternative(fix=difference(situation.base, o.world), gives_up=o.gives_up) for o in others]
    return Finding(
        phase=situation.seen.phase or Phase.RUN,
        cause=causes[0],
        causes=causes,
        check="the probe",
        evidence=evidence(situation, causes),
        experiments=tuple(experiments),
        fix=difference(situation.base, refined.world),
        confirmed=confirmed,
        alternatives=tuple(alternatives),
    )


def apart(situation: Situation, found: Broken, experiments: Sequence[Experiment], *, confirmed: bool) -> Finding:
    """Return the finding for an environment that passes its probe and is not what was asked for."""
    quoted = Evidence(quote=found.cause.why, where="installed distributions")
    return Finding(
        phase=Phase.VERIFY,
        cause=found.cause,
        causes=(found.cause,),
        check=found.name,
        evidence=(quoted, *evidence(situation)),
        experiments=tuple(experiments),
        fix=difference(situation.base, found.world),
        confirmed=confirmed,
    )


def impossible(situation: Situation, lack: Impossible, experiments: Sequence[Experiment]) -> Finding:
    """Return the finding for what nothing here can mend."""
    return Finding(
        phase=situation.seen.phase or Phase.RUN,
        cause=lack.cause,
        causes=(lack.cause,),
        check="the probe",
        evidence=evidence(situation),
        experiments=tuple(experiments),
        fix=Fix(host=lack.advice) if lack.advice else None,
        impossible=lack.lacking,
    )


def unsolved(situation: Situation, experiments: Sequence[Experiment], furthest: Sequence[Cause] = ()) -> Finding:
    """Return the finding when no change that was tried works: the likeliest causes, or that it is unknown.

    `furthest` are the causes that changes showed which made the failure move on.
    """
    causes = distinct((*likely_causes(situation), *furthest)) or (
        Cause(kind="unknown", name="", why="no change that was tried makes it work, and the evidence accuses nothing"),
    )
    return Finding(
        phase=situation.seen.phase or Phase.RUN,
        cause=causes[0],
        causes=causes,
        check="the probe",
        evidence=evidence(situation),
        experiments=tuple(experiments),
        impossible="" if situation.seen.built or causes[0].kind == "unknown" else causes[0].why,
    )


def likely_causes(situation: Situation) -> list[Cause]:
    """Return what the evidence alone accuses, the most telling first."""
    found = [hypothesis.cause for hypothesis in _strong(situation)]
    mixed = invariants.mixed_builds(situation.seen.resolved)
    found += [mixed] if mixed else []
    for accuse in (_not_that_one, _nothing_has_it, _lost_names, _where_it_broke, _unmet):
        found += accuse(situation)
    if not found and not situation.seen.built:
        named = [line for line in situation.lines if situation.reading.says(line.name)]
        found += [_package(line.name, f"{line.name} cannot be installed here") for line in named[:2]]
    if not found and len(situation.lines) == 1:
        name = situation.lines[0].name
        found.append(_package(name, f"nothing but {name} was asked for, and no other version of it passes"))
    return found


def _package(name: str, why: str) -> Cause:
    return Cause(kind="package", name=name, why=why)


def _strong(situation: Situation) -> list[Hypothesis]:
    """Return what an audit of the requirements accuses outright."""
    return [h for h in repair.hypotheses(situation) if h.likelihood >= 0.8]


def _not_that_one(situation: Situation) -> list[Cause]:
    """A distribution installs the module that the probe imports from, and has nothing of the name in it."""
    found = []
    for module, name in names_from(situation.probe) if situation.seen.built else ():
        owner = situation.contents.by_name.get(situation.contents.owner_of(module))
        if owner is not None and f"{module}.{name}" not in owner.modules and situation.seen.phase == Phase.IMPORT:
            found.append(_package(owner.name, f"{owner.name} {owner.version} installs {module}, and no {name} in it"))
    return found


def _nothing_has_it(situation: Situation) -> list[Cause]:
    missing = situation.reading.missing.split(".")[0]
    if not missing or situation.contents.has(missing) or any(unmet.name for unmet in situation.unmet):
        return []
    name = distributions_for(missing)[0]
    return [Cause(kind="missing", name=name, why=f"nothing here installs the module {situation.reading.missing}")]


def _lost_names(situation: Situation) -> list[Cause]:
    pairs = [(situation.contents.owner_of(m), m, name) for m, name in reversed(situation.reading.names) if m]
    versions = situation.seen.resolved
    return [_package(o, f"{m} of {o} {versions.get(o, '')} has no {name}") for o, m, name in pairs if o]


def _where_it_broke(situation: Situation) -> list[Cause]:
    frames = [frame for frame in reversed(situation.reading.frames) if frame.top]
    owners = [owner for owner in (situation.contents.owner_of(frame.module) for frame in frames) if owner]
    return [_package(owner, f"it breaks in {owner} {situation.seen.resolved.get(owner, '')}") for owner in owners[:1]]


def _unmet(situation: Situation) -> list[Cause]:
    found = []
    for unmet in situation.unmet:
        if unmet.found:
            found.append(_package(unmet.of, f"{unmet.of} requires {unmet.wanted}; there is {unmet.found}"))
        else:
            why = f"{unmet.of} requires {unmet.wanted}; it is not there"
            found.append(Cause(kind="missing", name=unmet.name, why=why))
    return found
