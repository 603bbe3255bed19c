"""What a user writes: a version set, and a matrix over version sets."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from envmgr.model.noun import Noun
from envmgr.model.outcome import NEVER_OBSERVED, Outcome
from envmgr.model.platform import Platform


def _kebab(name: str) -> str:
    return name.replace("_", "-")


_VERSIONS = r"(===\s*[^\s;),]+|(==|~=|!=|<=|>=|<|>)\s*[A-Za-z0-9][A-Za-z0-9.*+!_-]*)"
_SPECIFIER = rf"\s*({_VERSIONS}\s*)?(,\s*({_VERSIONS}\s*)?)*"
_NAME = r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?"


def _shaped(pattern: str) -> Any:
    """Return what tells editors the shape of a text; `envmgr.manifest.rules` checks what it means, and tells more."""
    return Field(json_schema_extra={"pattern": f"^{pattern}$"})


Specifier = Annotated[str, _shaped(_SPECIFIER)]
"""Versions, as PEP 440 asks for them: `>=3.8,<3.11`."""
Requirement = Annotated[str, _shaped(rf"\s*{_NAME}\s*(\[[^\]]*\]\s*)?(\(({_SPECIFIER})\)|{_SPECIFIER})\s*(;.*)?")]
"""A distribution with the versions that will do, as PEP 508 asks for it, without an address."""
MinorVersion = Annotated[str, _shaped(r"3\.[0-9]+")]
"""A minor version of Python: `3.8`."""
Address = Annotated[str, _shaped(r"(https?|file)://[^/@]*(/.*)?")]
"""Where an index is, without a credential."""


class Written(Noun):
    """A noun that people write in TOML: its keys are in kebab-case."""

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=_kebab, populate_by_name=True)


class Index(Written):
    """An explicit package index: it serves the named packages alone, and they come from it alone.

    On platforms that it does not name, the packages come from the default index.
    """

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]*$", description="how locks and errors call it")
    url: Address = Field(description="its address, without a credential: https://..., http://... or file://...")
    packages: tuple[str, ...] = Field(min_length=1, description="the distributions that it serves, and it alone")
    platforms: tuple[Platform, ...] = Field(
        default=tuple(Platform), min_length=1, description="where it holds; elsewhere the default index serves"
    )


class Step(Written):
    """One command of an installation history, as a user typed it."""

    install: tuple[str, ...] = Field(default=(), description="requirements, as after `pip install`")
    uninstall: tuple[str, ...] = Field(default=(), description="distributions, as after `pip uninstall`")
    flags: tuple[str, ...] = Field(default=(), description='flags of the installer, such as "--no-deps"')
    installer: str = Field(
        default="uv",
        pattern=r"^(uv|pip)(==[0-9][0-9A-Za-z.]*)?$",
        description="`uv`, `pip`, or one version of it: `pip==19.3.1`",
    )


class Expect(Written):
    """An outcome that is known beforehand; `reason` is a regular expression searched for in the observed reason."""

    runner: str | None = Field(default=None, description="only for this runner")
    device: str | None = Field(default=None, description="only on this device, by id or API")
    platform: str | None = Field(default=None, description="only on this platform")
    python: str | None = Field(default=None, description="only on these Pythons: a minor version or a specifier")
    outcome: Outcome = Field(
        description="the bare outcome: wrong, failed, crashed, build-failed, ...",
        json_schema_extra={"not": {"enum": [*sorted(each.value for each in NEVER_OBSERVED)]}},
    )
    reason: str = Field(min_length=1, description="a regular expression that is searched for in the observed reason")
    issue: str | None = Field(default=None, description="where it is reported, such as `plaidml#1066`")


class Variants(Written):
    """The axes along which a manifest is multiplied; the first value is the default."""

    python: tuple[MinorVersion, ...] = Field(
        min_length=1, description='minor versions: ["3.8", "3.7"] gives NAME@py3.8 and NAME@py3.7; the first is default'
    )


_ONE_OF_BOTH: dict[str, Any] = {
    "if": {"required": ["step"], "properties": {"step": {"minItems": 1}}},
    "then": {"properties": {"requirements": {"maxItems": 0}}},
    "else": {"required": ["requirements"], "properties": {"requirements": {"minItems": 1}}},
}
"""For editors: a manifest has either a history or a set of requirements."""


class Manifest(Written):
    """A version set: what to install on which Python, and which runners measure it."""

    model_config = ConfigDict(json_schema_extra=_ONE_OF_BOTH)

    schema_: Literal[1] = Field(alias="schema", description="the form of this file: 1")
    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", description="the file's stem")
    summary: str = Field(default="", description="one line for tables")
    python: Specifier = Field(description="which Pythons will do, as PEP 440: `>=3.7,<3.10`")
    requirements: tuple[Requirement, ...] = Field(default=(), description="PEP 508, pinned as far as it matters")
    exclude_newer: date | None = Field(default=None, description="a date: resolve as of that day")
    platforms: tuple[Platform, ...] = Field(
        default=tuple(Platform),
        description="of the interpreter, not of the machine; the first that fits natively wins, and an x86-64 Python "
        "under Rosetta serves where no native one can",
    )
    backend: str | None = Field(default=None, description="the library that computes, which is asked for devices")
    runners: tuple[str, ...] = Field(default=(), description="which runners may measure it")
    device: str | None = Field(
        default=None, description="the default for `run` and `shell`; every matrix plans a cell for it"
    )
    unset: tuple[str, ...] = Field(
        default=(), description="names taken out of what is passed on from the caller's variables"
    )
    data: tuple[str, ...] = Field(
        default=(), description="weights and data sets (`~/.keras/models`): its cells get a copy in the same place"
    )
    floating: bool = Field(
        default=False,
        strict=True,
        description="resolved at every build instead of locked (nightlies); the result is recorded",
    )
    allow_source: tuple[str, ...] = Field(
        default=(), description='distributions that may be built from source, by name (`"*"`: all)'
    )
    build_constraints: tuple[Requirement, ...] = Field(
        default=(), description="limits on build requirements, as uv has them"
    )
    overrides: tuple[Requirement, ...] = Field(
        default=(), description="requirements that stand instead of what dependencies ask for, as uv has them"
    )
    build_requires: dict[str, tuple[Requirement, ...]] = Field(
        default_factory=dict,
        description='needed to build a distribution and not declared by it: `flash-attn = ["torch"]`',
    )
    env: dict[str, str] = Field(
        default_factory=dict,
        description="variables of its cells; `{project}`, `{venv}` and `{home}` stand for folders",
    )
    variants: Variants | None = Field(default=None, description="the axes along which it is multiplied")
    index: tuple[Index, ...] = Field(
        default=(), description="explicit indexes: each serves the packages that it names, and they come from it alone"
    )
    step: tuple[Step, ...] = Field(
        default=(), description="instead of requirements: an ordered history, as a user typed it"
    )
    expect: tuple[Expect, ...] = Field(
        default=(), description="what is known beforehand; must match outcome and reason"
    )


class MatrixEntry(Written):
    """One runner of a matrix with its parameters.

    It is measured in the named manifests, or in all that list the runner if none is named.
    """

    runner: str = Field(description="the runner, by the stem of its file")
    parameters: dict[str, Any] = Field(default_factory=dict, description="instead of the runner's own defaults")
    manifests: tuple[str, ...] = Field(default=(), description="only these; none: all that list the runner")
    devices: tuple[str, ...] = Field(default=(), description="besides those of the matrix")


class Matrix(Written):
    """A selection of cells: manifests, runners, devices and parameters.

    `devices` names devices (by id or by api) that get a cell in each fitting manifest even if its env does not list
    them. `reference` names manifests whose processor cells serve as reference, the best first.
    """

    schema_: Literal[1] = Field(alias="schema", description="the form of this file: 1")
    name: str = Field(description="the file's stem")
    summary: str = Field(default="", description="one line for tables")
    manifests: tuple[str, ...] = Field(min_length=1, description="NAME or NAME@VARIANT")
    devices: tuple[str, ...] = Field(
        default=(),
        description="by id or API: they get a cell in each manifest whose backend knows the API, even where this host "
        "lacks them",
    )
    effort: Literal["quick", "default", "long"] = Field(
        default="default", description="how many processes a cell is measured in: 1, 10 to 30 or 20 to 60"
    )
    reference: tuple[str, ...] = Field(
        default=(),
        description="manifests whose cells (on a processor, or without a device) the others are compared with, "
        "the best first",
    )
    timeout: float = Field(default=600.0, gt=0, strict=True, description="seconds that a process may take")
    memory: float | None = Field(
        default=None, gt=0, strict=True, description="GiB that a process may take, with all that it starts"
    )
    tolerance: float = Field(
        default=1e-3,
        gt=0,
        strict=True,
        description="the largest difference that agrees, relative to the reference's root mean square",
    )
    entry: tuple[MatrixEntry, ...] = Field(min_length=1, description="what is measured")


class Target(Noun):
    """A manifest in one variant on one platform: what a lock and an env are for."""

    manifest: Manifest
    variant: str
    python: str
    platform: Platform

    @property
    def label(self) -> str:
        """The name as a user types it: the manifest, and the variant where there are several."""
        return self.manifest.name if self.variant == "default" else f"{self.manifest.name}@{self.variant}"
