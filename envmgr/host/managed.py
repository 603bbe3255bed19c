"""Where uv keeps the Pythons that it installs."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from envmgr.host.surroundings import Means, Surroundings

_DECIDING = ("UV_", "XDG_", "HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA")
"""Beginnings of the variables that decide it."""


def managed_folder(means: Means, around: Surroundings, cache_folder: Path) -> str:
    """Return the folder of uv's own Pythons, "" when there is no uv that tells.

    It is asked once for what decides its answer, and again where that folder is not there.
    """
    variables = sorted(item for item in around.environment.items() if item[0].upper().startswith(_DECIDING))
    told = json.dumps([means.files.identity(Path(around.uv)), variables])
    known = cache_folder / "managed" / f"{hashlib.sha256(told.encode()).hexdigest()[:32]}.txt"
    kept = (means.read(known) or "").strip()
    if kept and means.files.is_folder(Path(kept)):
        return kept
    folder = means.output(around.uv, "python", "dir").strip()
    if Path(folder).is_absolute() and means.files.is_folder(Path(folder)):
        means.keep(known, folder)
    return folder
