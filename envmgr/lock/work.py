"""What a resolution is asked for, what it works with, and what it gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import canonicalize_name

from envmgr.model.host import InstallerSettings
from envmgr.model.lock import Lock
from envmgr.model.manifest import Target
from envmgr.ports import Files, Process


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be resolved.

    `python` is the minor version (`3.8`). `interpreter` is one of that version on this machine; without it nothing can
    be built from source. The versions of `previous` are kept where they still fit, except those that `upgrade` names
    (`*`: all).
    """

    target: Target
    python: str
    interpreter: Path | None = None
    previous: Lock | None = None
    upgrade: frozenset[str] = frozenset()

    @property
    def sources(self) -> frozenset[str]:
        """The canonical names of what may be built from source; `*` stands for all."""
        return frozenset(name if name == "*" else canonicalize_name(name) for name in self.target.manifest.allow_source)


@dataclass(frozen=True, slots=True)
class Resolver:
    """What resolutions on this machine work with.

    `environment` is all that uv gets: its cache, certificates and proxies. `any_python` is an interpreter of any
    version: uv wants one even where nothing is built. `host_sources` tells that the host's further indexes, wheel
    folders and constraints take part; a lock that is to be the same everywhere is made without them. `timeout` is
    seconds for each call of uv.
    """

    process: Process
    files: Files
    uv: Path
    any_python: Path
    environment: Mapping[str, str]
    settings: InstallerSettings
    host_sources: bool = True
    offline: bool = False
    timeout: float = 1800.0


@dataclass(frozen=True, slots=True)
class Resolution:
    """A lock, and what the user should know about how it came about."""

    lock: Lock
    notes: tuple[str, ...] = ()
