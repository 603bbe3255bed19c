"""Looks at what stands around an environment: the caller's variables, files, and what comes in from outside."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from envmgr.app.experiments.places import Snapshot
from envmgr.diagnose.knowledge import in_standard_library
from envmgr.diagnose.situation import Surroundings
from envmgr.diagnose.steering import is_everyday
from envmgr.env.content import words_of
from envmgr.ports import Files

_READ_AT_MOST = 20_000


def look_around(
    told: Mapping[str, str],
    system: str,
    snapshot: Snapshot,
    files: Files,
    site_packages: Mapping[str, str],
) -> Surroundings:
    """Return the surroundings of a probe which is `told` variables, on a system.

    `site_packages` tells which modules the environment itself would give to a path variable that names it.
    """
    variables = {name: value for name, value in told.items() if not is_everyday(name)}
    shown = {
        name: (files.read(snapshot.folder / name) or "")[:_READ_AT_MOST] for name in snapshot.names if _is_text(name)
    }
    dead = {
        name
        for name, value in variables.items()
        if value.startswith("/") and ":" not in value and not files.exists(Path(value))
    }
    return Surroundings(variables, shown, frozenset(dead), _foreign(variables, system, files, site_packages))


def _is_text(name: str) -> bool:
    return (
        name.endswith((".py", ".json", ".toml", ".cfg", ".conf", ".ini", ".yaml", ".yml"))
        or "/." in name
        or name.count("/") <= 1
    )


def _foreign(
    variables: Mapping[str, str], system: str, files: Files, site_packages: Mapping[str, str]
) -> dict[str, str]:
    """Return the modules of the standard library or of the environment that a path variable puts in front."""
    found: dict[str, str] = {}
    for entry in words_of(variables.get("PYTHONPATH", ""), system):
        if "{venv}" in entry:
            found |= {module: "PYTHONPATH" for module in site_packages if in_standard_library(module)}
        elif entry:
            tops = {path.stem for path in files.list(Path(entry)) if path.suffix == ".py" or files.is_folder(path)}
            found |= {top: "PYTHONPATH" for top in tops if in_standard_library(top) or top in site_packages}
    for name in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"):
        for entry in variables.get(name, "").split(":"):
            libraries = (
                [path.name for path in files.list(Path(entry)) if ".so" in path.name] if entry.startswith("/") else []
            )
            found |= dict.fromkeys(libraries, name)
    return found
