"""The artefacts that a lock admits, as an index gives them now: names, addresses, digests."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from envmgr.model.lock import Lock, LockedDistribution


@dataclass(frozen=True, slots=True)
class Artefact:
    """One file: its name, its address, its sha256 in hexadecimal digits."""

    file: str
    url: str
    sha256: str


def artefacts_of(pylock: str) -> tuple[Artefact, ...]:
    """Return every wheel and source distribution that a pylock.toml (PEP 751) gives an address and a sha256 for."""
    return tuple(
        artefact
        for entry in tomllib.loads(pylock).get("packages", ())
        for stored in (*entry.get("wheels", ()), *([entry["sdist"]] if "sdist" in entry else ()))
        for artefact in _artefact(stored)
    )


def unmet(lock: Lock, digests: frozenset[str]) -> tuple[str, ...]:
    """Return `name==version` of what a lock names, build requirements included, and none of the digests is of."""
    return tuple(f"{each.name}=={each.version}" for each in _all_of(lock) if not digests & _hex(each))


def admitted(lock: Lock) -> frozenset[str]:
    """Return the sha256 (hexadecimal digits) of everything that a lock admits."""
    return frozenset(digest for each in _all_of(lock) for digest in _hex(each))


def of_builds(lock: Lock) -> Lock:
    """Return the build requirements of a lock as a lock of their own."""
    return lock.model_copy(update={"distributions": lock.builds, "builds": ()})


def _all_of(lock: Lock) -> Iterator[LockedDistribution]:
    yield from lock.distributions
    yield from lock.builds


def _hex(distribution: LockedDistribution) -> frozenset[str]:
    return frozenset(each.removeprefix("sha256:") for each in distribution.hashes)


def _artefact(stored: Mapping[str, Any]) -> Iterator[Artefact]:
    digest = stored.get("hashes", {}).get("sha256")
    url = stored.get("url") or stored.get("path")
    if digest and url:
        yield Artefact(stored.get("name") or _file_of(url), url, digest)


def _file_of(url: str) -> str:
    """Return the file's name in an address; of what names of artefacts hold, only `+` is ever quoted.

    >>> _file_of("https://index/whl/torch-2.9.0%2Bcpu-cp312-cp312-linux_x86_64.whl#sha256=ab")
    'torch-2.9.0+cpu-cp312-cp312-linux_x86_64.whl'
    """
    path = url.partition("#")[0].partition("?")[0]
    return path.rpartition("/")[2].replace("%2B", "+").replace("%2b", "+")
