"""What must hold in an environment even when nothing fails yet: families that only work at one version."""

from __future__ import annotations

from dataclasses import dataclass

from envmgr.diagnose.knowledge import families
from envmgr.diagnose.situation import Situation
from envmgr.diagnose.verdict import evidence
from envmgr.diagnose.worlds import difference, with_requirement
from envmgr.model.finding import Cause, Evidence, Experiment, Finding, World
from envmgr.model.outcome import Phase


@dataclass(frozen=True, slots=True)
class Broken:
    """An invariant that does not hold: its name, what is to blame, and the world in which it should hold."""

    name: str
    cause: Cause
    world: World


def broken(situation: Situation) -> Broken | None:
    """Return the first family whose members have come apart though only some of them were asked for by version."""
    there = situation.seen.resolved
    for how, members, why in families():
        present = {name: there[name] for name in sorted(members & set(there))}
        if how != "same_version" or len(set(present.values())) < 2:
            continue
        asked_for = [name for name in present if situation.pins.get(name) == present[name]]
        if len(asked_for) != 1:
            continue
        anchor = asked_for[0]
        other = next(name for name in present if name != anchor and present[name] != present[anchor])
        said = f"{other} {present[other]} lies under {anchor} {present[anchor]}: {why}"
        world = with_requirement(situation.world, f"{other}=={present[anchor]}")
        return Broken(f"{' and '.join(present)} at one version", Cause(kind="package", name=other, why=said), world)
    return None


def finding(situation: Situation, found: Broken, experiments: tuple[Experiment, ...], *, confirmed: bool) -> Finding:
    """Return the finding for an environment that passes its probe and is not what was asked for."""
    quoted = Evidence(quote=found.cause.why, where="installed distributions")
    return Finding(
        phase=Phase.VERIFY,
        cause=found.cause,
        causes=(found.cause,),
        check=found.name,
        evidence=(quoted, *evidence(situation)),
        experiments=experiments,
        fix=difference(situation.base, found.world),
        confirmed=confirmed,
    )
