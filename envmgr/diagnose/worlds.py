"""Arithmetic of worlds: what differs between two, the world that a fix makes, and the parts of a difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from envmgr.diagnose.requirement import key_of, with_line, without
from envmgr.model.finding import FileChanges, Fix, Variables, World
from envmgr.model.manifest import Step

_PLAIN = ("python", "exclude_newer", "overrides", "build_constraints", "build_requires", "index")


def asked(world: World) -> tuple[str, ...]:
    """Return every requirement line of a world, whether it has steps or not."""
    return tuple(line for step in world.steps for line in step.install) if world.steps else world.requirements


def difference(base: World, world: World) -> Fix:
    """Return what turns one world into the other, as a fix that leaves out what is the same."""
    changes = {name: getattr(world, name) for name in _PLAIN if getattr(world, name) != getattr(base, name)}
    if world.steps != base.steps and world.steps:
        changes["steps"] = world.steps
    elif world.requirements != base.requirements or world.steps != base.steps:
        changes["requirements"] = world.requirements
    if world.variables != base.variables:
        changes["env"] = world.variables
    if world.files != base.files:
        changes["files"] = world.files
    return Fix(**changes)


def apply(base: World, fix: Fix) -> World:
    """Return the world that a fix makes of another."""
    changes = {name: getattr(fix, name) for name in _PLAIN if getattr(fix, name) is not None}
    if fix.requirements is not None:
        changes.update(requirements=fix.requirements, steps=())
    elif fix.steps is not None:
        changes.update(steps=fix.steps, requirements=())
    if fix.env is not None:
        changes["variables"] = merged_variables(base.variables, fix.env)
    if fix.files is not None:
        changes["files"] = merged_files(base.files, fix.files)
    return base.model_copy(update=changes)


def merged_variables(first: Variables, then: Variables) -> Variables:
    """Return two changes of the variables as one, the later one winning."""
    values = {name: value for name, value in first.set.items() if name not in then.unset} | then.set
    unset = dict.fromkeys(name for name in (*first.unset, *then.unset) if name not in then.set)
    return Variables(set=values, unset=tuple(unset))


def merged_files(first: FileChanges, then: FileChanges) -> FileChanges:
    """Return two changes of files as one."""
    return FileChanges(
        remove=tuple(dict.fromkeys((*first.remove, *then.remove))),
        write={**first.write, **then.write},
        edit=(*first.edit, *then.edit),
    )


def with_variables(world: World, change: Variables) -> World:
    """Return the world with variables changed besides."""
    return world.model_copy(update={"variables": merged_variables(world.variables, change)})


def with_files(world: World, change: FileChanges) -> World:
    """Return the world with files changed besides."""
    return world.model_copy(update={"files": merged_files(world.files, change)})


def with_requirement(world: World, line: str) -> World:
    """Return the world with one requirement in the place of that for the same distribution, or added.

    In a history it takes the place where it stood, or joins the last step that installs something.
    """
    if not world.steps:
        return world.model_copy(update={"requirements": with_line(world.requirements, line)})
    key = key_of(line)
    steps = list(world.steps)
    holders = [at for at, step in enumerate(steps) if any(key_of(text) == key for text in step.install)]
    holders = holders or [max((at for at, step in enumerate(steps) if step.install), default=0)]
    for at in holders:
        steps[at] = steps[at].model_copy(update={"install": with_line(steps[at].install, line)})
    return world.model_copy(update={"steps": tuple(steps)})


def without_requirement(world: World, key: str) -> World:
    """Return the world with no requirement for one distribution; steps that do nothing any more go."""
    if not world.steps:
        return world.model_copy(update={"requirements": without(world.requirements, key)})
    steps = (step.model_copy(update={"install": without(step.install, key)}) for step in world.steps)
    return world.model_copy(update={"steps": tuple(step for step in steps if step.install or step.uninstall)})


def replaced(world: World, old: str, new: str) -> World:
    """Return the world with one requirement line exchanged for another."""

    def exchange(lines: Sequence[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(new if text == old else text for text in lines))

    if not world.steps:
        return world.model_copy(update={"requirements": exchange(world.requirements)})
    steps = tuple(step.model_copy(update={"install": exchange(step.install)}) for step in world.steps)
    return world.model_copy(update={"steps": steps})


def with_steps(world: World, steps: Sequence[Step]) -> World:
    """Return the world with another history instead of what was asked for."""
    return world.model_copy(update={"steps": tuple(steps), "requirements": ()})


def as_one_resolution(world: World, lines: Sequence[str]) -> World:
    """Return the world with one set of requirements, resolved at once, instead of what was asked for."""
    return world.model_copy(update={"requirements": tuple(lines), "steps": ()})


@dataclass(frozen=True, slots=True)
class Part:
    """One thing that differs between two worlds, and the better world without that difference."""

    name: str
    rest: World


def parts(base: World, world: World) -> tuple[Part, ...]:
    """Return each single difference between two worlds, each with the second world in which it is undone."""
    found = [
        Part(name, world.model_copy(update={name: getattr(base, name)}))
        for name in ("python", "exclude_newer", "overrides", "build_requires", "index")
        if getattr(world, name) != getattr(base, name)
    ]
    found += _constraint_parts(base, world)
    found += _requirement_parts(base, world)
    found += _surrounding_parts(base, world)
    return tuple(found)


def _constraint_parts(base: World, world: World) -> list[Part]:
    added = [line for line in world.build_constraints if line not in base.build_constraints]
    return [
        Part(
            f"build constraint {line}",
            world.model_copy(update={"build_constraints": tuple(w for w in world.build_constraints if w != line)}),
        )
        for line in added
    ]


def _requirement_parts(base: World, world: World) -> list[Part]:
    if world.requirements == base.requirements and world.steps == base.steps:
        return []
    whole = world.model_copy(update={"requirements": base.requirements, "steps": base.steps})
    old = {key_of(line): line for line in asked(base)}
    new = [line for line in asked(world) if line not in old.values()]
    if bool(world.steps) != bool(base.steps) and not new:
        return [Part("the history", whole)]
    found = []
    for line in new:
        before = old.get(key_of(line))
        rest = replaced(world, line, before) if before else without_requirement(world, key_of(line))
        found.append(Part(line, rest))
    dropped = [line for line in asked(base) if key_of(line) not in {key_of(other) for other in asked(world)}]
    if found:
        return found
    if len(dropped) > 1 and not world.steps and not base.steps:
        return [Part(f"without {line}", with_requirement(world, line)) for line in dropped]
    return [Part("the history", whole)]


def _surrounding_parts(base: World, world: World) -> list[Part]:
    found = []
    now, before = world.variables, base.variables
    for name in now.set:
        if now.set[name] != before.set.get(name):
            values = {key: value for key, value in now.set.items() if key != name}
            found.append(_with_surroundings(world, f"set {name}", Variables(set=values, unset=now.unset)))
    for name in now.unset:
        if name not in before.unset:
            kept = tuple(other for other in now.unset if other != name)
            found.append(_with_surroundings(world, f"unset {name}", Variables(set=now.set, unset=kept)))
    files = world.files
    for path in files.remove:
        if path not in base.files.remove:
            kept = tuple(other for other in files.remove if other != path)
            found.append(Part(f"remove {path}", world.model_copy(update={"files": _files(files, remove=kept)})))
    for edit in files.edit:
        if edit not in base.files.edit:
            rest = tuple(other for other in files.edit if other != edit)
            found.append(Part(f"edit {edit.path}", world.model_copy(update={"files": _files(files, edit=rest)})))
    return found


def _files(files: FileChanges, **changes: object) -> FileChanges:
    return files.model_copy(update=changes)


def _with_surroundings(world: World, name: str, variables: Variables) -> Part:
    return Part(name, world.model_copy(update={"variables": variables}))


def describe(base: World, world: World) -> str:
    """Return in one line what a world changes.

    >>> describe(World(python="3.8"), World(python="3.9"))
    'Python 3.9 instead of 3.8'
    """
    said = []
    if world.python != base.python:
        said.append(f"Python {world.python} instead of {base.python}")
    if world.exclude_newer != base.exclude_newer:
        said.append(f"as of {world.exclude_newer}" if world.exclude_newer else "with no date limit")
    said += _described_requirements(base, world)
    if world.overrides != base.overrides:
        said.append(f"override {', '.join(world.overrides)}")
    added = [line for line in world.build_constraints if line not in base.build_constraints]
    if added:
        said.append(f"builds with {', '.join(added)}")
    for name, lines in world.build_requires.items():
        if base.build_requires.get(name) != lines:
            said.append(f"{name} built without isolation beside {', '.join(lines)}")
    said += [f"{name}={value}" for name, value in world.variables.set.items() if base.variables.set.get(name) != value]
    said += [f"without {name}" for name in world.variables.unset if name not in base.variables.unset]
    said += [f"without the file {path}" for path in world.files.remove if path not in base.files.remove]
    said += [f"{edit.key} = {edit.value} in {edit.path}" for edit in world.files.edit if edit not in base.files.edit]
    return "; ".join(said) or "nothing changed"


def _described_requirements(base: World, world: World) -> list[str]:
    if world.requirements == base.requirements and world.steps == base.steps:
        return []
    before = {key_of(line): line for line in asked(base)}
    now = {key_of(line): line for line in asked(world)}
    said = [f"{line}" for key, line in now.items() if before.get(key) != line]
    said += [f"without {line}" for key, line in before.items() if key not in now]
    if base.steps and not world.steps:
        said.append("in one resolution")
    installers = {step.installer for step in world.steps} - {step.installer for step in base.steps}
    said += [f"installed by {name}" for name in sorted(installers) if base.steps or name != "uv"]
    return said or ["another history of installs"]
