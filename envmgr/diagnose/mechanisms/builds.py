"""Changes of what a build from source sees: tools as of its day, undeclared requirements, a newer release."""

from __future__ import annotations

import re
from collections.abc import Iterator

from envmgr.diagnose.knowledge import (
    distributions_for,
    dropped_by_tools,
    in_standard_library,
    last_python_with,
    python_released,
)
from envmgr.diagnose.mechanisms.era import later
from envmgr.diagnose.mechanisms.repair import cause_for_target, replacements
from envmgr.diagnose.releases import Release, installable, of_version, stable, up_to
from envmgr.diagnose.requirement import Line, read_line, version_of
from envmgr.diagnose.situation import Hypothesis, Situation
from envmgr.diagnose.worlds import asked, with_requirement
from envmgr.model.finding import Cause
from envmgr.model.outcome import Phase

_TOOLS = ("setuptools", "wheel", "cython", "numpy", "pybind11", "cffi", "setuptools-scm")
_BACKEND = re.compile(
    r"[Cc]all(?:ing|ed)? (?:to )?`?([A-Za-z_]\w*)[\w.:]*\.(?:prepare_metadata|build_wheel|get_requires)"
)


def hypotheses(situation: Situation) -> Iterator[Hypothesis]:
    """Propose changes for what has to be built from source."""
    suspects = _built_from_source(situation)
    if not situation.seen.built:
        for line, release in suspects:
            yield from _tools_of_the_day(situation, line, release)
            yield from _before_it_was_dropped(situation, line)
        yield from _undeclared(situation, [line for line, _ in suspects])
        for line in situation.lines:
            yield from _another_distribution(situation, line)
    for line, release in suspects:
        yield from _with_a_wheel(situation, line, release)


def _built_from_source(situation: Situation) -> list[tuple[Line, Release]]:
    """Return the pins that have no wheel for this target."""
    found = []
    for line in situation.lines:
        release = of_version(situation.releases(line.name), line.pin) if line.pin else None
        if release is not None and not installable(release, situation.target, sources=False):
            found.append((line, release))
    named = [pair for pair in found if situation.reading.says(pair[0].name) or pair[0].key in situation.reading.text]
    return named or found


def _tools_of_the_day(situation: Situation, line: Line, release: Release) -> Iterator[Hypothesis]:
    """Hold the build's tools at what was out when the release came out, or the Python that they must serve."""
    if not release.uploaded:
        return
    why = f"{line.name} {line.pin} ({release.uploaded}) is built with tools that came out later"
    own = _tools_in(situation)
    weight, tried = 0.95 if situation.seen.phase == Phase.BUILD else 0.35, set[tuple[str, ...]]()
    for day in dict.fromkeys((max(release.uploaded, python_released(situation.minor)), release.uploaded)):
        constraints = tools_as_of(situation, day, (*own, *(tool for tool in _TOOLS if tool not in own)))
        if not constraints or constraints in tried or (tried and not own):
            continue
        tried.add(constraints)
        tools = [constraint.split("<")[0] for constraint in constraints]
        named = next((tool for tool in tools if tool in own or situation.reading.says(tool)), tools[0])
        lines = (*situation.world.build_constraints, *constraints)
        world = situation.world.model_copy(update={"build_constraints": lines})
        yield Hypothesis(
            "build with the tools of its day", world, Cause(kind="package", name=named, why=why), weight, 9.0
        )
        weight -= 0.1


def _tools_in(situation: Situation) -> tuple[str, ...]:
    """Return the distributions of the build backend that was called, and of the code in which a build broke."""
    modules = [match[1] for match in _BACKEND.finditer(situation.reading.text)]
    modules += [frame.top for frame in situation.reading.frames if frame.top]
    named = (distributions_for(module)[0] for module in modules if not in_standard_library(module))
    return tuple(name for name in dict.fromkeys(named) if name not in _TOOLS and situation.releases(name))


def _before_it_was_dropped(situation: Situation, line: Line) -> Iterator[Hypothesis]:
    """Hold one tool below the release that stopped accepting something."""
    text = situation.reading.text
    for tool, below, what, log in dropped_by_tools():
        words = [word for word in re.findall(r"[A-Za-z_]\w{5,}", log) if "_" in word or "." in word] or [log]
        told = any(word in text for word in words)
        why = f"{tool} {below} dropped {what}, which the build of {line.name} needs"
        constraints = (*situation.world.build_constraints, f"{tool}<{below}")
        world = situation.world.model_copy(update={"build_constraints": constraints})
        cause = Cause(kind="package", name=tool, why=why)
        elsewhere = situation.seen.phase != Phase.BUILD or bool(_tools_in(situation))
        weight = 0.9 if told else (0.05 if text and elsewhere else 0.25)
        yield Hypothesis("a build tool before it dropped something", world, cause, weight, 7.0)


def tools_as_of(situation: Situation, day: str, tools: tuple[str, ...]) -> tuple[str, ...]:
    """Return constraints that hold build tools at what was out on a day, for those that have moved on since."""
    constraints = []
    for tool in tools:
        known = up_to(situation.releases(tool), later(day))
        current = stable(situation.releases(tool))
        if known and current and known[-1].version < current[-1].version:
            constraints.append(f"{tool}<={known[-1].version}")
    return tuple(constraints)


def _undeclared(situation: Situation, lines: list[Line]) -> Iterator[Hypothesis]:
    """Give a build what it imports and does not declare, without isolation."""
    modules = [module.split(".")[0] for module in reversed(situation.reading.modules)]
    wanted = [
        module for module in dict.fromkeys(modules) if not in_standard_library(module) and not last_python_with(module)
    ]
    if not situation.seen.text:
        wanted = ["pip", "numpy", "Cython"]
    for line in lines or list(situation.lines[-1:]):
        for module in wanted[:3]:
            name = distributions_for(module)[0]
            requires = {
                **situation.world.build_requires,
                line.key: (*situation.world.build_requires.get(line.key, ()), name),
            }
            cause = Cause(
                kind="missing", name=name, why=f"the build of {line.name} imports {module} and does not declare it"
            )
            world = situation.world.model_copy(update={"build_requires": requires})
            weight = 0.8 if situation.seen.text else 0.3
            yield Hypothesis("give the build what it needs", world, cause, weight, 9.0)


def _another_distribution(situation: Situation, line: Line) -> Iterator[Hypothesis]:
    """Take another distribution of the same module where this one has to be built and cannot."""
    known = [release for release in stable(situation.releases(line.name)) if line.admits(str(release.version))]
    if not known or installable(known[-1], situation.target, sources=False):
        return
    why = f"{line.name} has no wheel here and does not build; another distribution of the module has one"
    cause = Cause(kind="package", name=line.name, why=why)
    for text in asked(situation.world):
        if read_line(text) == line:
            yield from replacements(situation, text, line, cause, 0.5)


def _with_a_wheel(situation: Situation, line: Line, release: Release) -> Iterator[Hypothesis]:
    """Take the nearest newer release that has a wheel here."""
    current = version_of(line.pin)
    newer = [
        other
        for other in stable(situation.releases(line.name))
        if current is not None and other.version > current and installable(other, situation.target, sources=False)
    ]
    if not newer:
        return
    why = f"{line.name} {release.version} has no wheel for Python {situation.minor} here and is built from source"
    cause = Cause(kind="package", name=line.name, why=why)
    for other, weight in ((newer[0], 0.5), (newer[-1], 0.25)):
        world = with_requirement(situation.world, f"{line.name}=={other.version}")
        yield Hypothesis("a release with a wheel", world, cause, weight, 5.0, f"{line.name} {line.pin}")


def relaxed(situation: Situation) -> Iterator[Hypothesis]:
    """Propose to loosen each pin in turn when what is asked for contradicts itself."""
    if situation.seen.built or len(situation.lines) < 2:
        return
    text, resolving = situation.reading.text, situation.seen.phase == Phase.RESOLVE
    speaks = re.search(r"depends? on|conflict|incompatible|unsatisfiable", text, re.IGNORECASE)
    contradiction = not text or (resolving and speaks is not None)
    for line in situation.lines:
        if not line.pin:
            continue
        releases = situation.releases(line.name)
        pinned = of_version(releases, line.pin)
        if pinned is None:
            continue
        weight = 0.6 if contradiction and (line.key in text or not text) else 0.2
        size = max((a.size for r in releases[-3:] for a in r.artefacts), default=0)
        seconds = 4.0 + size / 20_000_000
        why = f"what {line.name} {line.pin} requires contradicts the rest"
        cause = Cause(kind="conflict", name=line.name, why=why)
        if not resolving and text:
            cause = Cause(kind="package", name=line.name, why=f"{line.name} {line.pin} cannot be installed here")
        if not installable(pinned, situation.target, sources=True):
            cause = cause_for_target(situation, line, (pinned,))
        for specifier, factor in ((f">={line.pin}", 1.0), (f"<={line.pin}", 0.9)):
            changed = Line(line.name, line.extras, specifier, marker=line.marker).text()
            world = with_requirement(situation.world, changed)
            yield Hypothesis("loosen a pin", world, cause, weight * factor, seconds, f"{line.name} {line.pin}")
