"""What is in an environment: which distribution owns which module, and what does not fit together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from packaging.markers import Marker, UndefinedEnvironmentName
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name


@dataclass(frozen=True, slots=True)
class Distribution:
    """One installed distribution: `modules` are dotted names down to three levels, `files` its importable files.

    `lost` are top-level ones of them that its record names and that are not there.
    """

    name: str
    version: str
    requires: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    modules: frozenset[str] = field(default=frozenset())
    files: frozenset[str] = field(default=frozenset())
    lost: tuple[str, ...] = ()

    def conditional(self) -> tuple[tuple[str, Marker], ...]:
        """Return what it requires under a condition alone, with the condition; what cannot be read is left out."""
        found = []
        for text in self.requires:
            try:
                requirement = Requirement(text)
            except InvalidRequirement:
                continue
            if requirement.marker is not None:
                found.append((canonicalize_name(requirement.name), requirement.marker))
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Unmet:
    """A requirement of an installed distribution that is not met; `found` is empty if nothing of that name is there."""

    of: str
    wanted: str
    name: str
    found: str


@dataclass(frozen=True)
class Contents:
    """Everything that is installed."""

    distributions: tuple[Distribution, ...] = ()

    @cached_property
    def by_name(self) -> Mapping[str, Distribution]:
        """The distributions by normalised name."""
        return {distribution.name: distribution for distribution in self.distributions}

    @cached_property
    def owners(self) -> Mapping[str, tuple[str, ...]]:
        """Which distributions install each module."""
        found: dict[str, list[str]] = {}
        for distribution in self.distributions:
            for module in distribution.modules:
                found.setdefault(module, []).append(distribution.name)
        return {module: tuple(sorted(names)) for module, names in found.items()}

    def owner_of(self, module: str) -> str:
        """Return the distribution that installs a module or the nearest package above it; empty if none does."""
        parts = module.split(".")
        for depth in range(min(len(parts), 3), 0, -1):
            names = self.owners.get(".".join(parts[:depth]))
            if names:
                return names[0] if len(names) == 1 or depth > 1 else self._closest(names, parts[0])
        return ""

    def _closest(self, names: tuple[str, ...], top: str) -> str:
        own = canonicalize_name(top)
        return own if own in names else names[0]

    def held_back(self, module: str) -> tuple[str, ...]:
        """Return what installed distributions require only elsewhere, or for an extra, and is named like a module."""
        word = canonicalize_name(module)
        names = [name for one in self.distributions for name, _ in one.conditional() if name not in self.by_name]
        return tuple(dict.fromkeys(name for name in names if word in name.split("-") or name == word))

    def has(self, module: str) -> bool:
        """Tell whether a top-level module is installed by something."""
        return module.split(".", maxsplit=1)[0] in self.owners

    @property
    def gutted(self) -> tuple[Distribution, ...]:
        """The distributions of which recorded files are gone."""
        return tuple(distribution for distribution in self.distributions if distribution.lost)

    def shared(self) -> tuple[tuple[str, ...], ...]:
        """Return the groups of distributions that own the same importable file (namespace stubs aside)."""
        holders: dict[str, list[str]] = {}
        for distribution in self.distributions:
            for path in distribution.files:
                holders.setdefault(path, []).append(distribution.name)
        groups = {tuple(sorted(names)) for names in holders.values() if len(names) > 1}
        return tuple(sorted(groups))

    def unmet(self, markers: Mapping[str, str]) -> tuple[Unmet, ...]:
        """Return what installed distributions require and do not find, for an interpreter's marker values."""
        found = []
        for distribution in self.distributions:
            for text in distribution.requires:
                lack = self._lack(distribution.name, text, markers)
                if lack is not None:
                    found.append(lack)
        return tuple(found)

    def _lack(self, of: str, text: str, markers: Mapping[str, str]) -> Unmet | None:
        try:
            requirement = Requirement(text)
            if requirement.marker and not requirement.marker.evaluate({**markers, "extra": ""}):
                return None
        except (InvalidRequirement, UndefinedEnvironmentName):
            return None
        name = canonicalize_name(requirement.name)
        there = self.by_name.get(name)
        if there is None:
            return Unmet(of, text, name, "")
        if not requirement.specifier.contains(there.version, prereleases=True):
            return Unmet(of, text, name, there.version)
        return None
