"""Receipts: the answer of a command that had nothing to do, with everything that it looked at to find that out.

As long as all of it is as it was, the answer is given again without looking for it: no manifest is parsed, no Python
is asked, and nothing but a few modules of the standard library is imported here.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence

FORM = 1
"""The form of a receipt; another one is as none."""

_DECIDING = (
    "APPDATA", "ASDF_", "CONDA", "ENVMGR_", "HOME", "LOCALAPPDATA", "MAMBA_", "MISE_", "PATH", "PIP_", "PYENV_",
    "PYTHON", "UV_", "USERPROFILE", "XDG_",
)  # fmt: skip
"""Beginnings of the variables that can decide which manifest, which Python and which folders are meant."""


_SET_ASIDE = "ENVMGR_SET_ASIDE_"
"""Begins the names of the variables in which a restarted envmgr finds what it was started with."""


def state_of(path: str) -> list[int] | None:
    """Return what tells that a file or a folder is another one than before; None where nothing is."""
    try:
        facts = os.stat(path)
    except OSError:
        return None
    return [facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_ino]


def content_of(path: str) -> str | None:
    """Return a digest of what a file holds; None where no file is."""
    try:
        with open(path, "rb") as stream:
            return hashlib.sha256(stream.read()).hexdigest()
    except OSError:
        return None


def receipt_path(cache: str, command: Sequence[str]) -> str:
    """Return where the receipt of a command line in the current folder is kept."""
    where = json.dumps([os.getcwd(), list(command)])
    return os.path.join(cache, "receipts", f"{hashlib.sha256(where.encode()).hexdigest()[:32]}.json")


def deciding(environment: Mapping[str, str]) -> dict[str, str]:
    """Return those of the variables that can change what a command finds."""
    given = {name.removeprefix(_SET_ASIDE): value for name, value in environment.items()}
    return {name: value for name, value in given.items() if name.upper().startswith(_DECIDING)}


def maker() -> list[object]:
    """Return what tells that another envmgr or another Python runs."""
    return [FORM, sys.version, state_of(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))]


def remembered(cache: str, command: Sequence[str]) -> str | None:
    """Return what a command line has to print, if all that decides it is as it was when that was found out."""
    try:
        with open(receipt_path(cache, command), encoding="utf-8") as stream:
            receipt = json.load(stream)
        if receipt["maker"] != maker() or receipt["variables"] != deciding(os.environ):
            return None
        same = _same(receipt["states"].items(), state_of) and _same(receipt["contents"].items(), content_of)
        return str(receipt["answer"]) if same else None
    except (OSError, ValueError, KeyError, AttributeError):
        return None


def spent(cache: str) -> list[str]:
    """Return the receipts that will hardly answer again: what they were about is gone or another by now."""
    folder = os.path.join(cache, "receipts")
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    paths = [os.path.join(folder, name) for name in names if name.endswith(".json")]
    return [path for path in paths if not _still_true(path)]


def _still_true(path: str) -> bool:
    try:
        with open(path, encoding="utf-8") as stream:
            receipt = json.load(stream)
        return _same(receipt["states"].items(), state_of) and _same(receipt["contents"].items(), content_of)
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return False


def _same(known: Iterable[tuple[str, object]], look: Callable[[str], object]) -> bool:
    return all(look(path) == found for path, found in known)
