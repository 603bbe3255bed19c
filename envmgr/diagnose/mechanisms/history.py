"""Changes of the history of installs: one resolution instead, a step dropped, a flag dropped, another installer."""

from __future__ import annotations

import re
from collections.abc import Iterator

from envmgr.diagnose.knowledge import distributions_for, installer_limits
from envmgr.diagnose.mechanisms.builds import tools_as_of
from envmgr.diagnose.mechanisms.era import era_of
from envmgr.diagnose.requirement import key_of, with_line
from envmgr.diagnose.situation import Hypothesis, Situation
from envmgr.diagnose.worlds import as_one_resolution, with_steps
from envmgr.model.finding import Cause, World
from envmgr.model.manifest import Step
from envmgr.model.outcome import Phase

_HARMLESS_FLAGS = ("--no-cache", "--no-cache-dir", "-q", "-v", "--quiet", "--verbose")


def hypotheses(situation: Situation) -> Iterator[Hypothesis]:
    """Propose other ways to come to what was asked for."""
    if situation.world.steps:
        yield from _without_a_step(situation)
        yield from _one_resolution(situation)
        yield from _without_a_flag(situation)
    yield from _installers(situation)


def _broken(situation: Situation) -> bool:
    contents = situation.contents
    return bool(situation.unmet or contents.shared() or contents.gutted)


def _blame(situation: Situation, step: Step | None) -> Cause:
    """Return the cause that a step's disappearance would show: what it installed, or what it kept out."""
    lack = situation.reading.missing.split(".")[0]
    absent = [unmet for unmet in situation.unmet if not unmet.found]
    flagged = any("--no-deps" in other.flags for other in situation.world.steps)
    if lack and flagged and not situation.contents.has(lack):
        name = distributions_for(lack)[0]
        return Cause(kind="missing", name=name, why=f"{name} was never installed: a step kept dependencies out")
    if step is None and absent and flagged:
        return Cause(
            kind="missing", name=absent[0].name, why=f"{absent[0].of} requires {absent[0].wanted}, which is not there"
        )
    for distribution in situation.contents.gutted:
        why = (
            f"{distribution.lost[0]} of {distribution.name} is gone: another distribution that owned it too was removed"
        )
        return Cause(kind="package", name=distribution.name, why=why)
    broken = [unmet for unmet in situation.unmet if unmet.found]
    lines = (step or situation.world.steps[-1]).install or (step or situation.world.steps[-1]).uninstall
    names = [key_of(line) for line in lines]
    for unmet in broken:
        if unmet.name in names:
            why = f"{unmet.of} requires {unmet.wanted}; a later step put {unmet.name} {unmet.found} there"
            return Cause(kind="package", name=unmet.name, why=why)
    name = names[0] if names else "pip"
    return Cause(kind="package", name=name, why=f"a later step put {name} over what an earlier one had resolved")


def _without_a_step(situation: Situation) -> Iterator[Hypothesis]:
    steps = situation.world.steps
    if len(steps) < 2:
        return
    weight = 0.6 if _broken(situation) else 0.3
    wanted = {distributions_for(module.split(".")[0])[0] for module in situation.imported}
    for at in range(len(steps) - 1, -1, -1):
        rest = steps[:at] + steps[at + 1 :]
        kept = {key_of(line) for step in rest for line in step.install}
        lost = {key_of(line) for line in steps[at].install} - kept
        needed = bool(lost & wanted)
        said = ", ".join((*steps[at].install, *steps[at].uninstall))
        world = _simplest(situation, rest)
        step_weight = weight * (0.25 if needed else 1.0) * (1.0 if at else 0.4)
        yield Hypothesis("drop a step", world, _blame(situation, steps[at]), step_weight, 5.0, f"the step {said}")


def _simplest(situation: Situation, steps: tuple[Step, ...]) -> World:
    """Return the world with a history, or with plain requirements where one plain step is left."""
    if len(steps) == 1 and not steps[0].flags and not steps[0].uninstall and steps[0].installer == "uv":
        return as_one_resolution(situation.world, steps[0].install)
    return with_steps(situation.world, steps)


def _one_resolution(situation: Situation) -> Iterator[Hypothesis]:
    """Propose what all steps ask for together, and that without the pins of later steps."""
    steps = situation.world.steps
    lines: tuple[str, ...] = ()
    for step in steps:
        gone = {key_of(line) for line in step.uninstall}
        lines = tuple(line for line in lines if key_of(line) not in gone)
        for line in step.install:
            lines = with_line(lines, line)
    weight = 0.65 if _broken(situation) else 0.35
    keys = {key_of(line) for line in lines}
    if any(keys >= set(group) for group in situation.contents.shared()):
        weight = 0.08  # which of two owners of a file comes last is chance then
    blamed = _blame(situation, None)
    yield Hypothesis(
        "one resolution", as_one_resolution(situation.world, lines), blamed, weight, 5.0, "the order of installs"
    )
    first = {key_of(line) for line in steps[0].install}
    freed = tuple(line if key_of(line) in first else line.split("=")[0].rstrip("<>!~ ") for line in lines)
    if freed != lines:
        world = as_one_resolution(situation.world, freed)
        yield Hypothesis(
            "one resolution, later pins freed", world, blamed, weight * 0.7, 5.0, "the pins of later steps"
        )


def _without_a_flag(situation: Situation) -> Iterator[Hypothesis]:
    for at, step in enumerate(situation.world.steps):
        flags = [flag for flag in step.flags if flag.startswith("-") and flag not in _HARMLESS_FLAGS]
        if not flags:
            continue
        steps = list(situation.world.steps)
        kept = tuple(flag for flag in step.flags if flag in _HARMLESS_FLAGS)
        steps[at] = step.model_copy(update={"flags": kept})
        lack = situation.reading.missing or any(not unmet.found for unmet in situation.unmet)
        weight = 0.6 if lack and "--no-deps" in flags else (0.25 if situation.seen.built else 0.5)
        yield Hypothesis("drop flags", with_steps(situation.world, steps), _blame(situation, None), weight, 5.0)


def _installers(situation: Situation) -> Iterator[Hypothesis]:
    """Propose a newer, an older and the other installer."""
    if situation.seen.built:
        return
    steps = situation.world.steps or (Step(install=situation.world.requirements),)
    text = situation.reading.text
    current = {step.installer for step in steps}
    strict = bool(
        re.search(
            r"invalid metadata|could not be parsed|invalid (?:requirement|version)|extras_require|pip<",
            text,
            re.IGNORECASE,
        )
    )
    offers: list[tuple[str, float, str]] = []
    if any(name.startswith("pip==") for name in current):
        offers.append(("pip", 0.6, "this pip is too old for what the index offers"))
    for below, why in installer_limits():
        weight = 0.6 if f"pip<{below}" in text else (0.4 if strict else 0.12)
        offers.append((f"pip=={_before(below)}", weight, why))
    if current != {"uv"}:
        offers.append(("uv", 0.2, "the installer decides it"))
    for installer, weight, why in offers:
        if current == {installer}:
            continue
        changed = tuple(step.model_copy(update={"installer": installer}) for step in steps)
        cause = Cause(kind="package", name="pip", why=why)
        yield Hypothesis("another installer", with_steps(situation.world, changed), cause, weight, 8.0)
        tools = (
            tools_as_of(situation, era_of(situation), ("setuptools", "wheel")) if installer.startswith("pip") else ()
        )
        if tools and situation.seen.phase != Phase.DOWNLOAD:
            first = Step(install=tools, installer=installer)
            beside = f"{why}; what it builds is built with tools of its own day"
            cause = Cause(kind="package", name="pip", why=beside)
            world = with_steps(situation.world, (first, *changed))
            yield Hypothesis("another installer and tools of the day", world, cause, weight * 0.9, 9.0)


def _before(version: str) -> str:
    """Return the last minor before one: 24.0 for 24.1."""
    major, minor = (int(part) for part in version.split(".")[:2])
    return f"{major}.{minor - 1}"
