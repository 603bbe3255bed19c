"""What wheels that were unpacked here before tell: which modules they install, and where a release's files lie.

Nothing is fetched, and nothing in them is imported.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from packaging.utils import canonicalize_name
from packaging.version import Version

from envmgr.diagnose.requirement import version_of
from envmgr.ports import Files

_INFO = re.compile(r"(?P<name>.+)-(?P<version>[^-]+)\.dist-info")


@dataclass(frozen=True, slots=True)
class SeenWheels:
    """The distributions that install some modules, by module; and the folder of each of their releases seen."""

    modules: dict[str, tuple[str, ...]] = field(default_factory=dict)
    folders: dict[tuple[str, Version], Path] = field(default_factory=dict)


def seen_wheels(files: Files, cache: Path, modules: Collection[str]) -> SeenWheels:
    """Return what the wheels in uv's cache tell of some top-level modules.

    The cache's layout is uv's own: where it is another, nothing was seen.
    """
    found: dict[str, dict[str, None]] = {}
    folders: dict[tuple[str, Version], Path] = {}
    for shelf in files.list(cache):
        if not shelf.name.startswith("archive-"):
            continue
        for wheel in files.list(shelf):
            entries = {entry.name for entry in files.list(wheel)}
            infos = [match for match in map(_INFO.fullmatch, entries) if match]
            if len(infos) != 1:
                continue
            name, version = canonicalize_name(infos[0]["name"]), version_of(infos[0]["version"])
            for module in modules:
                if module in entries or f"{module}.py" in entries:
                    found.setdefault(module, {})[name] = None
                    if version is not None:
                        folders.setdefault((name, version), wheel)
    return SeenWheels({module: tuple(names) for module, names in found.items()}, folders)
