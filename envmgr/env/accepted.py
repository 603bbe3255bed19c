"""Where it stands that an env is finished, and what it held when it was."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from envmgr.outside import Files

MARKER = "envmgr.json"
HANDING = "handing"
"""Stands in what an env held while its files are given bytes of their own."""


def record_of(folder: Path) -> Path:
    """Return where it stands what an env held when it was accepted."""
    return folder.with_name(f"{folder.name}.files.json")


def lock_of(folder: Path) -> Path:
    """Return the lock under which an env is built, changed and removed."""
    return folder.with_name(f"{folder.name}.lock")


def remember(
    files: Files, folder: Path, found: Mapping[str, str], *, durable: bool = True, handing: bool = False
) -> Path:
    """Write down what an env held when it was accepted, and return where.

    `handing` tells that from now on its files are given bytes of their own, one by one.
    """
    record = record_of(folder)
    told = {"schema": 1, "files": found, **({HANDING: True} if handing else {})}
    files.write(record, json.dumps(told), durable=durable)
    return record
