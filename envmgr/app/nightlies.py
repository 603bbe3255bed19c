"""The days of a floating manifest: which dated builds its indexes offer, and the manifest as of one of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from envmgr.diagnose.releases import Release
from envmgr.model.manifest import Manifest

_DATED = re.compile(r"(?:^|\D)(20\d{2})(\d{2})(\d{2})(?:\D|$)")


class Day(NamedTuple):
    """One day (`2026-11-17`) and the newest build of each watched distribution up to it."""

    date: str
    versions: Mapping[str, str]


def watched(manifest: Manifest) -> tuple[str, ...]:
    """Return the distributions whose builds of the day are wanted: those asked for with pre-releases, else all."""
    asked = [Requirement(text) for text in manifest.requirements]
    early = [each for each in asked if each.specifier.prereleases]
    return tuple(dict.fromkeys(str(canonicalize_name(each.name)) for each in early or asked))


def days_of(manifest: Manifest, releases_of: Callable[[str], Sequence[Release]]) -> tuple[Day, ...]:
    """Return the days on which some watched distribution was built, the oldest first.

    The day of a build stands in its version (`2.9.0.dev20261117`); where it does not, the index's upload time counts.
    Days before every distribution has a build are left out.
    """
    names = watched(manifest)
    admitted = {
        canonicalize_name(Requirement(text).name): Requirement(text).specifier for text in manifest.requirements
    }
    built: dict[str, dict[str, Release]] = {}
    for name in names:
        for release in releases_of(name):
            day = day_of(release)
            if day and not release.yanked and admitted[canonicalize_name(name)].contains(release.version, True):
                before = built.setdefault(day, {}).get(name)
                if before is None or release.version > before.version:
                    built[day][name] = release
    days = []
    latest: dict[str, str] = {}
    for day in sorted(built):
        latest |= {name: str(release.version) for name, release in built[day].items()}
        if len(latest) == len(names):
            days.append(Day(day, dict(latest)))
    return tuple(days)


def day_of(release: Release) -> str:
    """Return the day of a build, empty where nothing tells it."""
    found = _DATED.search(str(release.version))
    return "-".join(found.groups()) if found else release.uploaded


def as_of(manifest: Manifest, day: Day) -> Manifest:
    """Return the manifest with its watched distributions pinned to the builds of a day."""
    requirements = []
    for text in manifest.requirements:
        asked = Requirement(text)
        version = day.versions.get(str(canonicalize_name(asked.name)))
        extras = f"[{','.join(sorted(asked.extras))}]" if asked.extras else ""
        marker = f" ; {asked.marker}" if asked.marker else ""
        requirements.append(f"{asked.name}{extras}=={version}{marker}" if version else text)
    return manifest.model_copy(update={"requirements": tuple(requirements)})
