"""What a command would download, told by a trial of it and by the index, before anything is fetched."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from packaging.utils import canonicalize_name

from envmgr.diagnose.releases import Target, wheel_fits
from envmgr.diagnose.requirement import version_of
from envmgr.diagnose.situation import ReleasesOf
from envmgr.ports import Files

_COUNTED = re.compile(r"^Would download (\d+) package", re.MULTILINE)
_LISTED = re.compile(r"^ \+ ([A-Za-z0-9._-]+)==(\S+)$", re.MULTILINE)
_NAMED = 3
_GIGABYTE = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Download:
    """What is to be fetched: bytes by distribution with its version, as far as the index tells sizes."""

    sizes: Mapping[str, int] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """All bytes together."""
        return sum(self.sizes.values())

    def sentence(self, limit: int) -> str:
        """Return why this is not fetched under a limit, with the largest by name."""
        largest = sorted(self.sizes.items(), key=lambda item: -item[1])[:_NAMED]
        named = ", ".join(f"{name} {in_words(size)}" for name, size in largest)
        return f"not tried: it would download {in_words(self.total)} ({named}), and the limit is {in_words(limit)}"


def download_of(said: str, cache: Path | None, target: Target, releases: ReleasesOf, files: Files) -> Download:
    """Return what a trial's words say that would be fetched, less what lies in uv's cache.

    Without a cache everything that would be installed counts. A build with a local version (`+cpu`) that the index
    does not list comes from elsewhere, and its size is unknown: it counts nothing.
    """
    counted = _COUNTED.search(said)
    if cache is not None and counted is None:
        return Download()
    sizes = {
        f"{name} {version}": _size(name, version, target, releases)
        for name, version in _LISTED.findall(said)
        if cache is None or not _is_cached(cache, name, version, files)
    }
    if cache is not None and counted is not None and len(sizes) > int(counted[1]):
        largest = sorted(sizes, key=lambda one: -sizes[one])[: int(counted[1])]
        sizes = {one: sizes[one] for one in largest}
    return Download({one: size for one, size in sizes.items() if size})


def in_words(size: int) -> str:
    """Return a number of bytes for people.

    >>> in_words(1_500_000_000), in_words(20_400_000)
    ('1.5 GB', '20 MB')
    """
    return f"{size / _GIGABYTE:.1f} GB" if size >= _GIGABYTE else f"{size / 1_000_000:.0f} MB"


def _size(name: str, version: str, target: Target, releases: ReleasesOf) -> int:
    wanted = version_of(version)
    release = next((one for one in releases(name) if one.version == wanted), None)
    if release is None:
        return 0
    wheels = [file.size for file in release.artefacts if file.wheel and wheel_fits(file, target)]
    sources = [file.size for file in release.artefacts if not file.wheel]
    return max(wheels) if wheels else max(sources, default=0)


def _is_cached(cache: Path, name: str, version: str, files: Files) -> bool:
    """Tell whether uv's cache holds a wheel of a version, unpacked; its layout is uv's own, so no is a safe answer."""
    key, start = canonicalize_name(name), f"{version}-"
    for shelf in files.list(cache):
        if not shelf.name.startswith("wheels-"):
            continue
        places = [shelf / "pypi", *files.list(shelf / "index")]
        names = (entry.name for place in places for entry in files.list(place / key))
        if any(entry.startswith(start) and not entry.endswith((".msgpack", ".lock")) for entry in names):
            return True
    return False
