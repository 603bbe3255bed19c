"""Why something fails, what was tried, and what makes it work."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_serializer

from envmgr.model.manifest import Index, Step
from envmgr.model.noun import Noun
from envmgr.model.outcome import Phase

CauseKind = Literal["package", "python", "platform", "index", "env-state", "missing", "conflict", "hardware", "unknown"]


class Cause(Noun):
    """What is to blame."""

    kind: CauseKind
    name: str
    why: str


class Evidence(Noun):
    """One quoted line and where it stands."""

    quote: str
    where: str


class _Written(Noun):
    """A noun whose JSON form leaves out what says nothing."""

    @model_serializer(mode="wrap")
    def _without_nothing(self, handler: Any) -> dict[str, Any]:
        return {name: value for name, value in handler(self).items() if value not in (None, (), [], {})}


class Edit(Noun):
    """One key of a settings file (JSON: `a` or `a.b`; INI: `section.name`) and its new value; None takes it out."""

    path: str
    key: str
    value: Any = None


class FileChanges(_Written):
    """Files to take away, to write, to edit; paths begin with `home/` (HOME) or `cwd/` (the caller's folder)."""

    remove: tuple[str, ...] = ()
    write: dict[str, str] = Field(default_factory=dict)
    edit: tuple[Edit, ...] = ()


class Variables(_Written):
    """Environment variables to set and to unset, in the build and in the run."""

    set: dict[str, str] = Field(default_factory=dict)
    unset: tuple[str, ...] = ()


class World(Noun):
    """Everything that an experiment may vary: an environment to build, and the surroundings in which it is probed.

    `python` is a uv request. `steps`, when there are any, stand instead of `requirements`. `exclude_newer` is a date or
    empty. `variables` and `files` are changes of what the caller has; `index` serves additional indexes.
    """

    python: str
    requirements: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    exclude_newer: str = ""
    overrides: tuple[str, ...] = ()
    build_constraints: tuple[str, ...] = ()
    build_requires: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    index: tuple[Index, ...] = ()
    variables: Variables = Variables()
    files: FileChanges = FileChanges()


class HostAdvice(_Written):
    """Something that the host lacks, never installed by envmgr; `how` by package manager (debian, brew, windows)."""

    need: Literal["library", "driver", "os", "toolkit", "hardware", "installer"]
    name: str
    minimum: str = ""
    how: dict[str, str] = Field(default_factory=dict)


class Fix(_Written):
    """A complete change that can be applied by hand: what is absent stays as it is.

    `exclude_newer` "" clears the date. `program` and `host` are advice and never applied.
    """

    python: str | None = None
    requirements: tuple[str, ...] | None = None
    steps: tuple[Step, ...] | None = None
    exclude_newer: str | None = None
    overrides: tuple[str, ...] | None = None
    build_constraints: tuple[str, ...] | None = None
    build_requires: dict[str, tuple[str, ...]] | None = None
    index: tuple[Index, ...] | None = None
    env: Variables | None = None
    files: FileChanges | None = None
    program: str | None = None
    host: tuple[HostAdvice, ...] = ()


class Experiment(Noun):
    """One change that was tried: what became of it, how far it came, and in how many seconds."""

    change: str
    outcome: Literal["passed", "failed", "not-buildable", "not-run"]
    phase: Phase | None = None
    reason: str = ""
    seconds: float = 0.0


class Alternative(Noun):
    """Another change that was seen to work, and what it gives up."""

    fix: Fix
    gives_up: str = ""


class Finding(Noun):
    """The cause of a failure with its evidence, and the smallest change that was seen to work.

    `causes` lists all, the most telling first. `check` is the probe, or the invariant that does not hold. `confirmed`
    tells that the check failed before and holds after, in a fresh build. `impossible` says what is lacking when
    nothing here can help; `next` is the one command that would decide or prove it. Of the cells of a run, those with
    one cause share one finding: `id` is equal for them.
    """

    id: str = ""
    phase: Phase
    cause: Cause
    causes: tuple[Cause, ...]
    check: str = ""
    evidence: tuple[Evidence, ...] = ()
    experiments: tuple[Experiment, ...] = ()
    fix: Fix | None = None
    confirmed: bool = False
    alternatives: tuple[Alternative, ...] = ()
    impossible: str = ""
    next: str = ""
