"""What must hold in an environment even when nothing fails yet: families that only work at one version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from envmgr.diagnose.knowledge import families
from envmgr.diagnose.situation import Situation
from envmgr.diagnose.worlds import with_requirement
from envmgr.model.finding import Cause, World


@dataclass(frozen=True, slots=True)
class Broken:
    """An invariant that does not hold: its name, what is to blame, and the world in which it should hold."""

    name: str
    cause: Cause
    world: World


def mixed_builds(resolved: Mapping[str, str]) -> Cause | None:
    """Return the cause where members of one family are builds for different devices (`2.13.0+cpu` beside `0.28.0`)."""
    for how, members, why in families():
        labels = {name: version.partition("+")[2] for name, version in resolved.items() if name in members}
        if how == "same_version" or len(set(labels.values())) < 2:
            continue
        named = next((label for label in labels.values() if label), "")
        plain = next(name for name, label in sorted(labels.items()) if label != named)
        other = next(name for name, label in labels.items() if label == named)
        said = f"{other} {resolved[other]} is a build of its own kind, {plain} {resolved[plain]} is not: {why}"
        return Cause(kind="package", name=plain, why=said)
    return None


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
