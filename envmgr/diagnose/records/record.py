"""A recorded failure: its text, what was asked for, and the facts of the machine on which it happened."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from packaging.utils import canonicalize_name
from pydantic import ConfigDict, Field

from envmgr.diagnose.reading import Reading, read
from envmgr.diagnose.releases import Release
from envmgr.diagnose.requirement import Line, read_line, version_of
from envmgr.model.finding import Cause, Fix
from envmgr.model.noun import Noun
from envmgr.model.outcome import Phase


class _Loose(Noun):
    """Facts written elsewhere: what is not known here is passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Libc(_Loose):
    """The C library of a Linux."""

    name: str = ""
    version: str = ""


class PythonFacts(_Loose):
    """The interpreter: `arch` is its own, `translated` tells that it runs through Rosetta or the like."""

    implementation: str = ""
    version: str = ""
    arch: str = ""
    translated: bool | None = None


class Gpu(_Loose):
    """One graphics processor and the interfaces by which it can be reached."""

    name: str = ""
    vendor: str = ""
    api: tuple[str, ...] = ()


class Facts(_Loose):
    """What is known of a machine; what is absent is unknown, and an empty list says that there is none."""

    system: Literal["Darwin", "Linux", "Windows"] | None = None
    os_version: str = ""
    machine: str = ""
    libc: Libc = Libc()
    cpu_features: tuple[str, ...] | None = None
    python: PythonFacts = PythonFacts()
    gpus: tuple[Gpu, ...] | None = None
    drivers: dict[str, str] = Field(default_factory=dict)
    installed: dict[str, str] = Field(default_factory=dict)
    env: dict[str, str] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one rule makes of a record; `facts` quotes those that decided it."""

    cause: Cause
    weight: float
    phase: Phase = Phase.RUN
    fix: Fix | None = None
    impossible: str = ""
    facts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Record:
    """The text of a failure with everything that is known besides."""

    text: str
    facts: Facts
    requirements: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    releases: Callable[[str], tuple[Release, ...]] = lambda _: ()

    @cached_property
    def reading(self) -> Reading:
        """What the text says."""
        return read(self.text)

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """What was asked for, in its parts."""
        return tuple(line for line in (read_line(text) for text in self.requirements) if line is not None)

    @cached_property
    def env(self) -> dict[str, str]:
        """Every variable that is known to be set."""
        return {name: value for name, value in {**self.facts.env, **self.variables}.items() if value}

    @property
    def python_minor(self) -> str:
        """The interpreter's minor version, empty if unknown."""
        return ".".join(self.facts.python.version.split(".")[:2])

    @property
    def native_arch(self) -> str:
        """The processor's architecture as its system names it."""
        return same_arch(self.facts.machine)

    @property
    def arch(self) -> str:
        """The interpreter's architecture, else the processor's."""
        return same_arch(self.facts.python.arch) or self.native_arch

    @property
    def translated(self) -> bool:
        """True when the interpreter is known to be of another architecture than the processor."""
        if self.facts.python.translated is not None:
            return self.facts.python.translated
        return bool(self.facts.python.arch and self.facts.machine) and self.arch != self.native_arch

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The distributions that are known to be there or asked for, by normalised name."""
        keys = [*(canonicalize_name(name) for name in self.facts.installed), *(line.key for line in self.lines)]
        return tuple(dict.fromkeys(keys))

    def version(self, name: str) -> str:
        """Return the version of a distribution that is installed or pinned, else what the text names, or empty."""
        for key, value in self.facts.installed.items():
            if canonicalize_name(key) == name:
                return value
        return next((line.pin for line in self.lines if line.key == name and line.pin), "")

    def told(self, name: str) -> str:
        """Return a distribution by its name, with its version where that is known."""
        return f"{name} {self.version(name)}".strip()

    def owner(self, *paths: str) -> str:
        """Return the distribution that a path in the text belongs to, by the folder's name below site-packages."""
        for path in paths:
            found = re.search(r"(?:site|dist)-packages[/\\]([A-Za-z0-9_.-]+?)(?:[/\\]|\.libs|$)", path)
            if not found:
                continue
            top = canonicalize_name(found[1].lstrip("_"))
            words = set(re.findall(r"[a-z0-9]+", path.lower().rsplit("packages", 1)[-1]))
            words |= {word.removeprefix("lib") for word in words}
            exact = [name for name in self.names if name == top]
            near = [name for name in self.names if set(name.split("-")) <= words and name != top]
            if near and not exact:
                return max(near, key=len)
            return exact[0] if exact else top
        return ""

    @property
    def main(self) -> str:
        """The distribution that the text is most about: named in it and asked for, else the first one asked for."""
        frames = [self.owner(frame.file) for frame in reversed(self.reading.frames)]
        said = [
            name for name in self.names if self.reading.says(name) or re.search(rf"\b{re.escape(name)}\b", self.text)
        ]
        return next((name for name in [*frames, *said, *self.names] if name), "")


def same_arch(name: str) -> str:
    """Return one name for each architecture.

    >>> same_arch("AMD64"), same_arch("aarch64")
    ('x86_64', 'arm64')
    """
    lowered = name.lower()
    return {"amd64": "x86_64", "x64": "x86_64", "aarch64": "arm64", "i686": "x86", "i386": "x86"}.get(lowered, lowered)


def older(one: str, other: str) -> bool:
    """Tell whether a version is older than another; False where either cannot be compared."""
    first, second = version_of(one), version_of(other)
    return first is not None and second is not None and first < second
