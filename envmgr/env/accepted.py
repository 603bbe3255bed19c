"""Where it stands that an env is finished, and what it held when it was."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from envmgr.outside import Files

MARKER = "envmgr.json"


def record_of(folder: Path) -> Path:
    """Return where it stands what an env held when it was accepted."""
    return folder.with_name(f"{folder.name}.files.json")


def lock_of(folder: Path) -> Path:
    """Return the lock under which an env is built, changed and removed."""
    return folder.with_name(f"{folder.name}.lock")


def remember(files: Files, folder: Path, found: Mapping[str, str], *, durable: bool = True) -> Path:
    """Write down what an env held when it was accepted, and return where."""
    record = record_of(folder)
    files.write(record, json.dumps({"schema": 1, "files": found}), durable=durable)
    return record
