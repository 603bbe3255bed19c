"""Reads what uv resolved: its output in the form of PEP 751."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from packaging.utils import canonicalize_name

from envmgr.errors import ResolveError
from envmgr.model.lock import LockedDistribution


@dataclass(frozen=True, slots=True)
class Package:
    """One resolved distribution: the hashes of its fitting wheels, and that of its source distribution.

    `size` is the bytes of the largest fitting wheel, or of the source distribution; 0 where the index does not tell.
    """

    name: str
    version: str
    wheels: tuple[str, ...]
    source: str | None
    marker: str | None
    size: int = 0

    @property
    def needs_build(self) -> bool:
        """True when no wheel fits."""
        return not self.wheels

    def locked(self, index: str | None) -> LockedDistribution:
        """Return the distribution as a lock holds it."""
        hashes = self.wheels or ((self.source,) if self.source else ())
        if not hashes:
            raise ResolveError(
                f"{self.name} {self.version} has neither a fitting wheel nor a source distribution with a hash",
                "wanted a sha256 hash, without which nothing can be verified; the index gives none",
                "Take it from an index that serves files with hashes.",
            )
        return LockedDistribution(
            name=self.name,
            version=self.version,
            hashes=tuple(sorted(hashes)),
            marker=self.marker,
            index=index,
            source=self.needs_build,
        )


def read_pylock(text: str) -> tuple[Package, ...]:
    """Return the packages of uv's output, sorted by name."""
    packages = [_package(entry) for entry in tomllib.loads(text).get("packages", ())]
    return tuple(sorted(packages, key=lambda package: package.name))


def write_preferences(distributions: Iterable[LockedDistribution]) -> str:
    """Return versions to be kept where they still fit, in the form of uv's earlier output."""
    entries = [
        f'[[packages]]\nname = "{distribution.name}"\nversion = "{distribution.version}"\n'
        for distribution in distributions
    ]
    return "\n".join(['lock-version = "1.0"\ncreated-by = "envmgr"\n', *entries])


def _package(entry: Mapping[str, Any]) -> Package:
    wheels = tuple(_sha256(wheel) for wheel in entry.get("wheels", ()))
    source = entry.get("sdist")
    return Package(
        name=canonicalize_name(entry["name"]),
        version=entry["version"],
        wheels=tuple(each for each in wheels if each),
        source=_sha256(source) if source else None,
        marker=entry.get("marker"),
        size=max((artefact.get("size", 0) for artefact in entry.get("wheels") or [source or {}]), default=0),
    )


def _sha256(artefact: Mapping[str, Any]) -> str | None:
    digest = artefact.get("hashes", {}).get("sha256")
    return f"sha256:{digest}" if digest else None
