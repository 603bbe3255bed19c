"""What source distributions are built with: found out, pinned and hashed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from envmgr.errors import ResolveError
from envmgr.lock.compile import Question, ask, call
from envmgr.lock.pylock import Package, read_pylock
from envmgr.lock.trouble import resolve_error
from envmgr.lock.work import Resolver, Wish
from envmgr.model.lock import LockedDistribution
from envmgr.ports import Completed, ProcessRequest

_BUILT = re.compile(r"DEBUG Building: (?P<name>[\w.-]+)==")
_USED = re.compile(r"DEBUG Installing build requirements?: (?P<pins>.+)")


def pin_builds(
    packages: Iterable[Package], asked: Question, wish: Wish, resolver: Resolver, folder: Path
) -> tuple[LockedDistribution, ...]:
    """Return the build requirements of packages that are built from source, each at one version with its hashes.

    Only a build tells them all: backends add their own when they are asked. So each source is built once, with an empty
    cache, and uv tells what it has put beside it.
    """
    sources = frozenset(package.name for package in packages)
    pins = tuple(f"{package.name}=={package.version}" for package in packages)
    question = replace(asked, requirements=pins, sources=sources | (asked.sources & {"*"}), keep=(), dependencies=False)
    command = (
        *call("install", question, wish, resolver, folder),
        *("--target", str(folder / "built"), "--verbose"),
    )
    environment = {**resolver.environment, "UV_CACHE_DIR": str(folder / "cache")}
    completed = resolver.process.run(ProcessRequest(command, folder, environment, timeout=resolver.timeout))
    if not completed.good:
        raise resolve_error(completed, wish, resolver)
    used = _used(completed, wish, sources)
    if not used:
        return ()
    hashed = ask(replace(question, requirements=used, sources=asked.sources), wish, resolver, folder)
    if not hashed.good:
        raise resolve_error(hashed, wish, resolver)
    return tuple(package.locked(None) for package in read_pylock(hashed.stdout))


def _used(completed: Completed, wish: Wish, sources: frozenset[str]) -> tuple[str, ...]:
    """Return the pins of everything that uv tells it has put beside the sources."""
    unseen = sources - {found["name"] for found in _BUILT.finditer(completed.stderr)}
    if unseen:
        raise ResolveError(
            f"{wish.target.label}: it is not known what {', '.join(sorted(unseen))} is built with",
            "wanted uv's account of each build; found none in its log",
            "Use the version of uv that envmgr asks for.",
        )
    versions: dict[str, str] = {}
    for found in _USED.finditer(completed.stderr):
        for pin in found["pins"].split(", "):
            name, _, version = pin.strip("` ").partition("==")
            if versions.setdefault(name, version) != version:
                raise ResolveError(
                    f"{wish.target.label}: its sources are built with different versions of {name}",
                    f"found {versions[name]} and {version}; a lock holds one",
                    f'Settle it with build-constraints = ["{name}==…"].',
                )
    return tuple(f"{name}=={version}" for name, version in sorted(versions.items()))
