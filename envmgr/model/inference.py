"""What was read in old scripts, the environment that was found for them, and what shows that it fits."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from envmgr.model.finding import Experiment
from envmgr.model.noun import Noun

Necessity = Literal["required", "alternative", "optional", "function"]
ModuleKind = Literal["standard-library", "python-2", "local", "distribution", "unreachable"]
ClockKind = Literal["asked", "pin", "dockerfile", "model", "pickle", "version", "notebook", "date", "history"]


class ScriptImport(Noun):
    """One import: `names` are those of a `from`; `alternative` is one of several ways behind `except ImportError`."""

    module: str
    names: tuple[str, ...] = ()
    line: int = 0
    necessity: Necessity = "required"
    script: str = ""


class Clock(Noun):
    """Something beside or in a script that tells its age: a day, a Python minor or a version of a distribution."""

    kind: ClockKind
    where: str
    says: str
    day: str = ""
    python: str = ""
    name: str = ""
    version: str = ""


class ModuleOrigin(Noun):
    """Where a top-level module comes from; `distribution` is empty unless an index has one."""

    module: str
    kind: ModuleKind
    distribution: str = ""
    why: str = ""


class MissingName(Noun):
    """A module or a name that a probe looked for in vain."""

    name: str
    module: str
    why: str
    required: bool = True


class Proof(Noun):
    """What a probe of the import surface saw; `ran` tells how the script itself ended in the search's env, if asked.

    `glanced` tells that it only looked at files, which were enough to say what is missing; there may be more. `locked`
    tells that the environment was the one that the written lock builds, and not one of the search.
    """

    passed: bool
    imported: tuple[str, ...] = ()
    resolved: tuple[str, ...] = ()
    missing: tuple[MissingName, ...] = ()
    ran: str = ""
    glanced: bool = False
    locked: bool = False


class Inference(Noun):
    """An environment for scripts, why it was chosen, and what is not known of it.

    `syntax` is the range of Pythons that can read the source; `python` and `exclude_newer` with `requirements` are
    what was chosen, `resolved` what was installed by it (`sources` of it were built). `unreachable` holds what could
    not be had, `open` what only a run would tell.
    """

    scripts: tuple[str, ...]
    syntax: str
    imports: tuple[ScriptImport, ...]
    modules: tuple[ModuleOrigin, ...]
    clocks: tuple[Clock, ...] = ()
    python: str = ""
    requirements: tuple[str, ...] = ()
    exclude_newer: str = ""
    variables: dict[str, str] = Field(default_factory=dict)
    resolved: dict[str, str] = Field(default_factory=dict)
    sources: tuple[str, ...] = ()
    why: tuple[str, ...] = ()
    proof: Proof = Proof(passed=False)
    experiments: tuple[Experiment, ...] = ()
    unreachable: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
