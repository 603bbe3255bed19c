"""What a search over the difference of two ends shows, as findings; and the worlds that would be the fix."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from envmgr.diagnose.changes import Change, mixture
from envmgr.diagnose.culprits import Culprit, Needs
from envmgr.diagnose.observation import Observation
from envmgr.diagnose.reading import telling_lines
from envmgr.diagnose.worlds import difference, with_requirement, without_requirement
from envmgr.model.finding import Evidence, Finding, Variables, World
from envmgr.model.outcome import Phase

_NAMED = 3
_PREFERRED = ("package", "variable", "python")


def described(made: Collection[Change], changes: Sequence[Change]) -> str:
    """Return in one line which of the changes an experiment makes in the good end."""
    if not made:
        return "the good end"
    if len(made) == len(changes):
        return f"the bad end ({len(changes)} changes)"
    chosen = [change for change in changes if change in made]
    if len(chosen) <= _NAMED:
        return "; ".join(change.text() for change in chosen)
    left = [change for change in changes if change not in made]
    if len(left) <= _NAMED:
        return f"all but {'; '.join(change.text() for change in left)}"
    return f"{len(chosen)} of {len(changes)} changes, {chosen[0].name} to {chosen[-1].name}"


def fixes(
    base: World,
    ends: tuple[World, World],
    changes: Sequence[Change],
    found: Sequence[Culprit[Change]],
    needs: Needs[Change],
) -> Iterator[tuple[World, World]]:
    """Yield pairs of a failing world and what should heal it, the smallest change of the user's own wishes first.

    Of a culprit of several changes one is taken back, rather a distribution than the interpreter; where that does not
    do, all of them.
    """
    green, red = ends
    taken = [min(culprit.items, key=lambda change: _PREFERRED.index(change.kind)) for culprit in found]
    if base.requirements and not base.steps:
        yield base, _taken_back(base, taken)
    everything = [item for culprit in found for item in culprit.items]
    for out in (taken, everything):
        yield red, mixture(green, red, needs.without(changes, out))


def finding_of(
    culprit: Culprit[Change], seen: Observation, count: int, fix: tuple[World, World] | None, *, confirmed: bool
) -> Finding:
    """Return the finding for one culprit; `seen` is how it fails with nothing but the culprit in the good end."""
    causes = tuple(change.cause([other for other in culprit.items if other is not change]) for change in culprit.items)
    evidence = [Evidence(quote=line, where="the probe's output") for line in telling_lines(seen.text)]
    evidence += [Evidence(quote=change.text(), where=f"one of {count} changes") for change in culprit.items]
    evidence += [Evidence(quote=change.text(), where="came along: it is needed") for change in culprit.along]
    evidence += [
        Evidence(quote=change.text(), where="no mixture without it could be had: it may be only needed")
        for change in culprit.doubtful
    ]
    return Finding(
        phase=seen.phase or Phase.RUN,
        cause=causes[0],
        causes=causes,
        check="the probe",
        evidence=tuple(evidence),
        fix=difference(*fix) if fix else None,
        confirmed=confirmed and fix is not None,
    )


def _taken_back(base: World, changes: Sequence[Change]) -> World:
    world = base
    for change in changes:
        if change.kind == "package":
            line = f"{change.name}=={change.before}"
            world = with_requirement(world, line) if change.before else without_requirement(world, change.name)
        elif change.kind == "python":
            world = world.model_copy(update={"python": change.before})
        else:
            values = {name: value for name, value in world.variables.set.items() if name != change.name}
            values |= {change.name: change.before} if change.before else {}
            unset = () if change.before else (change.name,)
            variables = Variables(set=values, unset=(*world.variables.unset, *unset))
            world = world.model_copy(update={"variables": variables})
    return world
