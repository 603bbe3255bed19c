"""Worlds of invented distributions, each with its true cause: from a seed, always the same."""

import random
from dataclasses import dataclass, field

from unseen import around, inside
from unseen.draft import Draft
from unseen.shelf import Shelf

TROUBLES = {
    trouble.__name__.replace("_", " "): trouble
    for trouble in (
        inside.removed_name,
        inside.abi_stamp,
        inside.marker,
        inside.extra,
        around.shared_file,
        around.shadowing_file,
        around.variable,
        around.wrong_platform,
        around.build_tool,
        inside.newer_python,
        inside.family,
        around.missing_release,
        inside.undeclared,
        around.settings_file,
    )
}
PAIRED = (
    "removed name",
    "abi stamp",
    "marker",
    "extra",
    "shadowing file",
    "variable",
    "newer python",
    "family",
    "settings file",
)
"""What two at once are made of: their mends do not get in each other's way."""
SHARE_OF_PAIRS = 0.25


@dataclass(frozen=True)
class Case:
    """One world, as a person would describe it, and what is true of it. `fix` mends it; `sound` tells that nothing is wrong."""

    id: str
    kind: str
    index: str
    python: str
    requirements: list
    steps: list
    variables: dict
    files: dict
    probe: str
    causes: list
    keep: list
    fix: dict
    build: dict = field(default_factory=dict)
    sound: bool = False
    hopeless: bool = False


def worlds(folder, seed, count, controls, pythons):
    """Make the indexes of so many broken and so many sound worlds in a folder; returns their cases."""
    cases = [world(folder, seed, number, pythons) for number in range(count)]
    sound = (world(folder, seed, count + number, pythons) for number in range(controls * 3))
    return cases + [mended(case) for case in sound if not case.hopeless][:controls]


def world(folder, seed, number, pythons, kind=""):
    """Make the world of a number, of a kind of its own or of the one that is given; returns its case."""
    chance = random.Random(f"{seed} {number}")
    name = f"w{number:03}"
    draft = Draft(Shelf(folder / name / "simple"), chance, pythons)
    names = list(TROUBLES)
    kinds = chance.sample(PAIRED, 2) if chance.random() < SHARE_OF_PAIRS else [names[number % len(names)]]
    kinds = [kind] if kind else kinds
    kinds.sort(key=lambda name: name != "newer python")  # it chooses the Python for all
    for trouble in kinds:
        TROUBLES[trouble](draft)
    _decoys(draft)
    return Case(
        name, " + ".join(kinds), f"{name}/simple/", draft.python, draft.requirements, draft.steps, draft.variables,
        draft.files, "\n".join(draft.probe), draft.causes, draft.keep, draft.fix(), hopeless=draft.hopeless,
    )  # fmt: skip


def _decoys(draft):
    """Add what is innocent: a distribution that moved on, a variable, files and settings that nothing reads."""
    front, dep, pin = draft.name(), draft.name(), draft.version()
    good = {f"{dep}.py": "def work():\n    return 1\n"}
    draft.releases(dep, good, good)
    draft.shelf.wheel(front, pin, {f"{front}.py": f"import {dep}\n"}, requires=[dep], day=draft.day(-3))
    if not draft.steps:
        draft.ask(f"{front}=={pin}")
        draft.probe.insert(0, f"import {front}; {front}.{dep}.work()")
    if draft.chance.random() < 0.6:
        draft.variables[f"{draft.name().upper()}_HOME"] = "{home}/" + draft.name()
    if draft.chance.random() < 0.5:
        draft.variables[f"{front.upper()}_VERBOSE"] = "1"
    if draft.chance.random() < 0.5:
        draft.files[f"cwd/{draft.name()}.py"] = "print('mine')\n"
    if draft.chance.random() < 0.3:
        draft.files[f"home/.{front}/{front}.json"] = '{"colour": "blue"}'


def mended(case):
    """Return the sound world that a case's own fix makes of it, with its decoys."""
    fix, env = case.fix, case.fix.get("env", {})
    variables = {name: value for name, value in case.variables.items() if name not in env.get("unset", ())} | env.get(
        "set", {}
    )
    gone = tuple(fix.get("files", {}).get("remove", ()))
    files = {
        path: text
        for path, text in case.files.items()
        if not any(path == one or path.startswith(f"{one}/") for one in gone)
    }
    steps = fix.get("steps", [] if "requirements" in fix else case.steps)
    build = {key: fix[key] for key in ("build_constraints", "build_requires") if key in fix}
    return Case(
        case.id, f"sound ({case.kind})", case.index, fix.get("python", case.python), fix.get("requirements", case.requirements),
        steps, variables, files, case.probe, [], [], {}, build, sound=True,
    )  # fmt: skip
