"""What is known beforehand: small general data, each entry derived by a script or with the log that proves it."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from packaging.utils import canonicalize_name


@cache
def _load(name: str) -> Any:
    return json.loads(files(__package__).joinpath(f"{name}.json").read_text(encoding="utf-8"))


def distributions_for(module: str) -> tuple[str, ...]:
    """Return the distributions that install a top-level name, the most used first; the name itself if none is known.

    >>> distributions_for("PIL")
    ('pillow',)
    """
    known = _load("import_names").get(module)
    own = canonicalize_name(module)
    return tuple(known) if known else (own,)


def rivals(distribution: str) -> tuple[str, ...]:
    """Return other distributions that install the same top-level names as one does, the most used first."""
    found: dict[str, None] = {}
    for names in _load("import_names").values():
        if distribution in names:
            found.update(dict.fromkeys(names))
    stem = distribution.removesuffix("-macos").removesuffix("-gpu").removesuffix("-intel")
    if stem != distribution:
        found.update(dict.fromkeys((f"{stem}-cpu", stem)))
    found.pop(distribution, None)
    return tuple(found)


def last_python_with(module: str, name: str = "") -> str:
    """Return the last Python whose standard library has a module, or a name in it; empty if it was never lost.

    >>> last_python_with("collections", "Iterable")
    '3.9'
    """
    data = _load("stdlib")
    if not name:
        return str(data["modules"].get(module.split(".", maxsplit=1)[0], ""))
    return str(data["names"].get(module, {}).get(name, ""))


def in_standard_library(module: str) -> bool:
    """Tell whether a top-level name belongs to the standard library of some Python 3."""
    data = _load("stdlib")
    return module in data["here"] or data["modules"].get(module, "2.7") != "2.7"


def families() -> tuple[tuple[str, frozenset[str], str], ...]:
    """Return the families that move together: how (`same_version`, `same_day`), who, and why."""
    return tuple(
        (how, frozenset(entry["members"]), entry["why"])
        for how, entries in _load("families").items()
        for entry in entries
    )


def settings() -> dict[str, dict[str, Any]]:
    """Return the variables that choose something in a library, by name: the library, and where values come from."""
    return dict(_load("settings"))


def cap_for_lost_module(module: str) -> tuple[str, str]:
    """Return the distribution that once had a module and the first version without it (or empty), or two empties."""
    for entry in _load("events")["lost"]:
        if entry["module"] == module:
            return str(entry["distribution"]), str(entry["below"])
    return "", ""


def other_losses(distribution: str, module: str) -> tuple[str, ...]:
    """Return the first versions without something else that a distribution once had: who counted on one counts on all.

    >>> other_losses("setuptools", "distutils")
    ('82',)
    """
    lost = (entry for entry in _load("events")["lost"] if entry["distribution"] == distribution)
    return tuple(str(entry["below"]) for entry in lost if entry["below"] and entry["module"] != module)


def first_without(module: str, name: str) -> str:
    """Return the first series of a library that lacks a name of its module; empty if no loss is known.

    >>> first_without("numpy", "float")
    '1.24'
    """
    known = _load("lost").get(module, {}).get("without", {})
    return next((series for series, names in known.items() if name in names), "")


def installer_limits() -> tuple[tuple[str, str], ...]:
    """Return versions of installers that changed what they accept: (first version that differs, why)."""
    return tuple((entry["below"], entry["why"]) for entry in _load("events")["installers"])


def dropped_by_tools() -> tuple[tuple[str, str, str, str], ...]:
    """Return what build tools stopped accepting: (tool, first version that does not, what, the log that shows it)."""
    return tuple((e["tool"], e["below"], e["dropped"], e["log"]) for e in _load("events")["dropped"])


def python_released(minor: str) -> str:
    """Return the day on which a Python minor came out, empty if that is not known."""
    return str(_load("events")["pythons"].get(minor, ""))
