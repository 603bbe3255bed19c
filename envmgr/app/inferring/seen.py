"""Which modules wheels install, told by those that were unpacked here before: nothing is fetched."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

from packaging.utils import canonicalize_name

from envmgr.ports import Files


def seen_wheels(files: Files, cache: Path, modules: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return the distributions whose wheels in uv's cache install some top-level modules, by module.

    The cache's layout is uv's own: where it is another, nothing was seen.
    """
    found: dict[str, dict[str, None]] = {}
    for shelf in files.list(cache):
        if not shelf.name.startswith("archive-"):
            continue
        for wheel in files.list(shelf):
            entries = {entry.name for entry in files.list(wheel)}
            infos = [name for name in entries if name.endswith(".dist-info")]
            if len(infos) != 1:
                continue
            name = canonicalize_name(re.sub(r"-[^-]+\.dist-info$", "", infos[0]))
            for module in modules:
                if module in entries or f"{module}.py" in entries:
                    found.setdefault(module, {})[name] = None
    return {module: tuple(names) for module, names in found.items()}
