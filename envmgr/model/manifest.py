"""What a user writes: a version set, and a matrix over version sets."""

from __future__ import annotations

from datetime import date
from typing import Any, Literal

from pydantic import ConfigDict, Field

from envmgr.model.noun import Noun
from envmgr.model.outcome import Outcome
from envmgr.model.platform import Platform


def _kebab(name: str) -> str:
    return name.replace("_", "-")


class Written(Noun):
    """A noun that people write in TOML: its keys are in kebab-case."""

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=_kebab, populate_by_name=True)


class Index(Written):
    """An explicit package index: it serves the named packages alone, and they come from it alone.

    On platforms that it does not name, the packages come from the default index.
    """

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]*$")
    url: str
    packages: tuple[str, ...] = Field(min_length=1)
    platforms: tuple[Platform, ...] = Field(default=tuple(Platform), min_length=1)


class Step(Written):
    """One command of an installation history, as a user typed it."""

    install: tuple[str, ...] = ()
    uninstall: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    installer: str = Field(default="uv", pattern=r"^(uv|pip)(==[0-9][0-9A-Za-z.]*)?$")


class Expect(Written):
    """An outcome that is known beforehand; `reason` is a regular expression searched for in the observed reason."""

    runner: str | None = None
    device: str | None = None
    platform: str | None = None
    python: str | None = None
    outcome: Outcome
    reason: str = Field(min_length=1)
    issue: str | None = None


class Variants(Written):
    """The axes along which a manifest is multiplied; the first value is the default."""

    python: tuple[str, ...] = Field(min_length=1)


class Manifest(Written):
    """A version set: what to install on which Python, and which runners measure it."""

    schema_: Literal[1] = Field(alias="schema")
    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    summary: str = ""
    python: str
    requirements: tuple[str, ...] = ()
    exclude_newer: date | None = None
    platforms: tuple[Platform, ...] = tuple(Platform)
    backend: str | None = None
    runners: tuple[str, ...] = ()
    device: str | None = None
    unset: tuple[str, ...] = ()
    data: tuple[str, ...] = ()
    floating: bool = Field(default=False, strict=True)
    allow_source: tuple[str, ...] = ()
    build_constraints: tuple[str, ...] = ()
    overrides: tuple[str, ...] = ()
    build_requires: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    env: dict[str, str] = Field(default_factory=dict)
    variants: Variants | None = None
    index: tuple[Index, ...] = ()
    step: tuple[Step, ...] = ()
    expect: tuple[Expect, ...] = ()


class MatrixEntry(Written):
    """One runner of a matrix with its parameters.

    It is measured in the named manifests, or in all that list the runner if none is named.
    """

    runner: str
    parameters: dict[str, Any] = Field(default_factory=dict)
    manifests: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()


class Matrix(Written):
    """A selection of cells: manifests, runners, devices and parameters.

    `devices` names devices (by id or by api) that get a cell in each fitting manifest even if its env does not list
    them. `reference` names manifests whose processor cells serve as reference, the best first.
    """

    schema_: Literal[1] = Field(alias="schema")
    name: str
    summary: str = ""
    manifests: tuple[str, ...] = Field(min_length=1)
    devices: tuple[str, ...] = ()
    effort: Literal["quick", "default", "long"] = "default"
    reference: tuple[str, ...] = ()
    timeout: float = Field(default=600.0, gt=0, strict=True)
    tolerance: float = Field(default=1e-3, gt=0, strict=True)
    entry: tuple[MatrixEntry, ...] = Field(min_length=1)


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
