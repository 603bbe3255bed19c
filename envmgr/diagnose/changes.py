"""What differs between two environments that were built, change by change, and the mixtures of the two."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from envmgr.diagnose.contents import Contents
from envmgr.diagnose.culprits import Needs
from envmgr.diagnose.observation import Observation
from envmgr.diagnose.reading import without_chance
from envmgr.diagnose.requirement import key_of, pins, read_line
from envmgr.model.finding import Cause, CauseKind, Variables, World
from envmgr.model.manifest import Step
from envmgr.model.redaction import shown_value

PYTHON = "python"


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that is otherwise: a distribution's version, the interpreter, a variable; empty is not there."""

    kind: Literal["package", "python", "variable"]
    name: str
    before: str
    after: str

    def text(self) -> str:
        """Return the change in words.

        >>> Change("package", "numpy", "1.26.4", "2.0.0").text()
        'numpy 2.0.0 instead of 1.26.4'
        """
        before, after = self.before, self.after
        if self.kind == "variable":
            before, after = (value and shown_value(self.name, value) for value in (before, after))
        if not before:
            return f"{self.name} {after}, which was not there before"
        return f"{self.name} {after} instead of {before}" if after else f"{self.name} {before} gone"

    def cause(self, others: Collection[Change]) -> Cause:
        """Return the change as a cause; `others` are those together with which alone it breaks something."""
        kinds: dict[str, CauseKind] = {"package": "package", "python": "python", "variable": "env-state"}
        kind: CauseKind = "missing" if self.kind == "package" and not self.after else kinds[self.kind]
        named = self.after or self.before if self.kind == "python" else self.name
        with_them = " and ".join(other.text() for other in others)
        only = f", and only together with {with_them}" if others else ""
        return Cause(kind=kind, name=named, why=f"{self.text()} breaks it{only}")


def pinned(world: World, python: str, resolved: Mapping[str, str]) -> World:
    """Return a world in which exactly those versions are installed on that Python."""
    lines = tuple(f"{name}=={version}" for name, version in sorted(resolved.items()))
    return world.model_copy(
        update={"python": python, "requirements": lines, "steps": (), "exclude_newer": "", "overrides": ()}
    )


def plainly(world: World) -> World:
    """Return a pinned world installed without a look at what the distributions require of each other."""
    step = Step(install=world.requirements, flags=("--no-deps",), installer="uv")
    return world.model_copy(update={"requirements": (), "steps": (step,)})


def changes_between(green: World, red: World) -> tuple[Change, ...]:
    """Return what differs between two pinned worlds, by name."""
    before, after = pins(green.requirements), pins(red.requirements)
    found = [
        Change("package", name, before.get(name, ""), after.get(name, ""))
        for name in sorted({*before, *after})
        if before.get(name) != after.get(name)
    ]
    if not _same_python(green.python, red.python):
        found.append(Change("python", PYTHON, green.python, red.python))
    old, new = green.variables.set, red.variables.set
    found += [
        Change("variable", name, old.get(name, ""), new.get(name, ""))
        for name in sorted({*old, *new})
        if old.get(name) != new.get(name)
    ]
    return tuple(found)


def mixture(green: World, red: World, made: Collection[Change]) -> World:
    """Return the green world with some of the changes made; with all of them it is the red one."""
    versions = pins(green.requirements)
    values = dict(green.variables.set)
    python = green.python
    for change in made:
        if change.kind == "python":
            python = change.after
            continue
        held = versions if change.kind == "package" else values
        held.pop(change.name, None)
        if change.after:
            held[change.name] = change.after
    lines = tuple(f"{name}=={version}" for name, version in sorted(versions.items()))
    unset = tuple(dict.fromkeys((*green.variables.unset, *red.variables.unset)))
    variables = Variables(set=values, unset=tuple(name for name in unset if name not in values))
    index = tuple({each.url: each for each in (*green.index, *red.index)}.values())
    return red.model_copy(update={"python": python, "requirements": lines, "variables": variables, "index": index})


def needs_of(changes: Collection[Change], green: Contents, red: Contents) -> Needs[Change]:
    """Return which changes cannot be had without others, by what the distributions of both environments require."""
    by_name = {change.name: change for change in changes if change.kind == "package"}
    found: dict[Change, set[Change]] = {}
    for change in by_name.values():
        for name, other in _wanted(red, change.name, by_name):
            if other.before == "" or not _admits(name, other.before):
                found.setdefault(change, set()).add(other)
        for name, other in _wanted(green, change.name, by_name):
            if other.after == "" or not _admits(name, other.after):
                found.setdefault(other, set()).add(change)
    return Needs(found)


def failure_of(seen: Observation) -> str | None:
    """Return how a probe failed in a form in which two failures of one kind are equal; empty if it passed.

    None where there was no environment to probe. Numbers, paths and places in the code do not enter it.
    """
    if seen.passed:
        return ""
    if not seen.built or seen.phase is None:
        return None
    message = without_chance(seen.reading.message)
    signal = f" signal {seen.signal}" if seen.signal else ""
    return f"{seen.phase.value} {seen.reading.exception}: {message}{signal}"


def _same_python(one: str, other: str) -> bool:
    """Tell whether two Pythons are one, as far as both are told: `3.11` and `3.11.7` are."""
    first, second = one.split("."), other.split(".")
    shorter = min(len(first), len(second))
    return first[:shorter] == second[:shorter]


def _wanted(contents: Contents, name: str, changes: Mapping[str, Change]) -> list[tuple[str, Change]]:
    """Return what a distribution requires of those that changed."""
    holder = contents.by_name.get(name)
    lines = [line for line in (holder.requires if holder else ()) if "extra ==" not in line]
    return [(line, changes[key_of(line)]) for line in lines if key_of(line) in changes and key_of(line) != name]


def _admits(requirement: str, version: str) -> bool:
    line = read_line(requirement)
    return line is None or line.admits(version)
