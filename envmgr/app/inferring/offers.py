"""What an index offers for modules on a day and a Python: one release for each, of a wheel that is not too large."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

from envmgr.diagnose.releases import Artefact, Release, Target, of_version, python_fits, stable, wheel_fits
from envmgr.infer.eras import Era
from envmgr.infer.naming import Wanted
from envmgr.ports import Files

MOST_BYTES = 300_000_000
"""The largest wheel that is tried: no build for GPUs by the way."""


@dataclass(frozen=True)
class Offers:
    """Finds releases. `lying` are wheels in folders that the caller's settings name, by distribution."""

    releases: Callable[[str], tuple[Release, ...]]
    platforms: tuple[str, ...]
    accelerated: bool
    lying: Mapping[str, tuple[Release, ...]] = field(default_factory=dict)
    _usable: dict[tuple[str, str], tuple[Release, ...]] = field(default_factory=dict)

    def best(self, wanted: Wanted, era: Era) -> str:
        """Return the requirement line for the best candidate of an era, empty if none can be had."""
        lines = (self.line(name, era) for name in self.candidates(wanted))
        return next((line for line in lines if line), "")

    def candidates(self, wanted: Wanted) -> tuple[str, ...]:
        """Return the distributions that are meant by a module: the most used one and the namesake.

        Without an accelerator the build of the first for processors comes before them.
        """
        first, own = wanted.candidates[0], canonicalize_name(wanted.module)
        likely = (first, own) if self.accelerated else (f"{first}-cpu", first, own)
        return tuple(name for name in dict.fromkeys(likely) if name in wanted.candidates)

    def line(self, name: str, era: Era) -> str:
        """Return the requirement for the newest release of an era that can be had, empty if there is none."""
        found = self.fitting(name, era)
        if not found:
            return ""
        newest, oldest = found[-1], found[0]
        if newest.version.local or newest is oldest:
            return f"{name}=={newest.version}"
        wheels = any(file.wheel for file in oldest.artefacts)  # never fall back to sources of what has wheels
        return f"{name}>={oldest.version},<={newest.version}" if wheels else f"{name}<={newest.version}"

    def fitting(self, name: str, era: Era) -> tuple[Release, ...]:
        """Return the releases of an era that can be had on its Python, oldest first.

        Of a distribution that has to be compiled, releases without a wheel for this Python are left out.
        """
        key = (name, era.python)
        if key not in self._usable:
            self._usable[key] = self._for_python(name, era.python)
        usable = self._usable[key]
        return usable if not era.day else tuple(one for one in usable if one.uploaded and one.uploaded <= era.day)

    def _for_python(self, name: str, python: str) -> tuple[Release, ...]:
        target = Target(python, self.platforms)
        known = stable(self.releases(name))
        lying = (one for one in self.lying.get(name, ()) if any(wheel_fits(file, target) for file in one.artefacts))
        compiled = any(file.wheel and not _pure(file) for one in known for file in one.artefacts)
        found = [
            one
            for one in known
            if any(_takes(file, target) or (not compiled and _source(file, python)) for file in one.artefacts)
        ]
        return tuple(sorted((*found, *lying), key=lambda one: one.version))

    def built(self, resolved: Mapping[str, str], python: str) -> tuple[str, ...]:
        """Return which of the distributions installed on a Python can only have been built from source."""
        target = Target(python, self.platforms)
        releases = {name: of_version(self.releases(name), version) for name, version in resolved.items()}
        return tuple(
            sorted(
                name
                for name, release in releases.items()
                if release is not None and not any(wheel_fits(file, target) for file in release.artefacts if file.wheel)
            )
        )

    def uploaded(self, name: str, version: str) -> str:
        """Return the day on which a version came out, empty if that is not known; `1.4` stands for its last patch."""
        known = self.releases(name)
        exact = of_version(known, version)
        series = [one for one in known if str(one.version).startswith(f"{version}.")]
        release = series[-1] if series and version.count(".") < 2 else exact  # noqa: PLR2004 - major.minor
        return release.uploaded if release else ""


def _takes(file: Artefact, target: Target) -> bool:
    return file.wheel and not file.yanked and file.size <= MOST_BYTES and wheel_fits(file, target)


def _pure(file: Artefact) -> bool:
    return all(system == "any" for _, _, system in file.tags)


def _source(file: Artefact, python: str) -> bool:
    return not file.wheel and not file.yanked and python_fits(file, python)


def lying_wheels(files: Files, folders: Iterable[str]) -> dict[str, tuple[Release, ...]]:
    """Return the wheels that lie in folders (as `PIP_FIND_LINKS` names them), by distribution."""
    found: dict[str, list[Release]] = {}
    for folder in folders:
        for path in files.list(Path(folder)) if re.match(r"^(?:/|~|[A-Za-z]:)", folder) else ():
            try:
                name, version, _, _ = parse_wheel_filename(path.name)
            except InvalidWheelFilename:
                continue
            release = Release(version, "", (Artefact(path.name, "", False, files.size(path)),))
            found.setdefault(canonicalize_name(name), []).append(release)
    return {name: tuple(sorted(releases, key=lambda one: one.version)) for name, releases in found.items()}
