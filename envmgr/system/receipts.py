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
from contextlib import suppress

FORM = 3
"""The form of a receipt; another one is as none."""

_DECIDING = (
    "APPDATA", "ASDF_", "CONDA", "ENVMGR_", "HOME", "LOCALAPPDATA", "MAMBA_", "MISE_", "PATH", "PIP_", "PYENV_",
    "PYTHON", "UV_", "USERPROFILE", "XDG_",
)  # fmt: skip
"""Beginnings of the variables that can decide which manifest, which Python and which folders are meant."""


_SET_ASIDE = "ENVMGR_SET_ASIDE_"
"""Begins the names of the variables in which a restarted envmgr finds what it was started with."""


_RECEIPTS = "receipts"
_RECIPES = "recipes"


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
    return os.path.join(cache, _RECEIPTS, f"{_digest_of(command)}.json")


def recipe_path(cache: str, command: Sequence[str]) -> str:
    """Return where it is kept how a command line in the current folder can do again what it did."""
    return os.path.join(cache, _RECIPES, f"{_digest_of(command)}.json")


def _digest_of(command: Sequence[str]) -> str:
    where = json.dumps([os.getcwd(), list(command)])
    return hashlib.sha256(where.encode()).hexdigest()[:32]


def deciding(environment: Mapping[str, str]) -> str:
    """Return a digest of those variables that can change what a command finds: some hold passwords of indexes."""
    given = {name.removeprefix(_SET_ASIDE): value for name, value in environment.items()}
    told = {name: value for name, value in given.items() if name.upper().startswith(_DECIDING)}
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def maker() -> list[object]:
    """Return what tells that another envmgr or another Python runs."""
    return [FORM, sys.version, state_of(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))]


def remembered(cache: str, command: Sequence[str]) -> str | None:
    """Return what a command line has to print, if all that decides it is as it was when that was found out."""
    receipt = _holding(receipt_path(cache, command))
    return None if receipt is None or "answer" not in receipt else str(receipt["answer"])


def recalled(cache: str, command: Sequence[str]) -> tuple[dict[str, object], str] | None:
    """Return how a command line can do again what it did, and the answer to that, if what decides it is as it was."""
    kept = _holding(recipe_path(cache, command)) or {}
    recipe, answer = kept.get("recipe"), kept.get("answer")
    return (recipe, answer) if isinstance(recipe, dict) and isinstance(answer, str) else None


def forget(cache: str, command: Sequence[str]) -> None:
    """Forget how a command line can do again what it did: it was tried in vain."""
    with suppress(OSError):
        os.unlink(recipe_path(cache, command))


def _holding(path: str) -> dict[str, object] | None:
    """Return what is kept in a file, if all that decides it is as it was."""
    kept = _read(path)
    same = kept.get("maker") == maker() and kept.get("variables") == deciding(os.environ) and _is_true(kept)
    return kept if same else None


def _read(path: str) -> dict[str, object]:
    try:
        with open(path, encoding="utf-8") as stream:
            kept = json.load(stream)
    except (OSError, ValueError):
        return {}
    return kept if isinstance(kept, dict) else {}


def _is_true(kept: dict[str, object]) -> bool:
    """Tell whether everything that was looked at is as it was."""
    states, contents = kept.get("states"), kept.get("contents")
    if not isinstance(states, dict) or not isinstance(contents, dict):
        return False
    return _same(states.items(), state_of) and _same(contents.items(), content_of)


def spent(cache: str) -> list[str]:
    """Return the receipts and recipes that will hardly serve again: what they were about is gone or another by now."""
    paths = [path for name in (_RECEIPTS, _RECIPES) for path in _kept_in(os.path.join(cache, name))]
    return [path for path in paths if not _is_true(_read(path))]


def _kept_in(folder: str) -> list[str]:
    try:
        return [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(".json")]
    except OSError:
        return []


def _same(known: Iterable[tuple[str, object]], look: Callable[[str], object]) -> bool:
    return all(look(path) == found for path, found in known)
