"""What is installed in an environment, as the names of its files tell it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from packaging.utils import canonicalize_name

from envmgr.ports import Files

_INFO = re.compile(r"(?P<name>.+?)-(?P<version>[^-]+)(-py[\d.]+)?\.(dist|egg)-info")


def site_packages(files: Files, prefix: Path) -> tuple[Path, ...]:
    """Return what lies in the site-packages of an environment; nothing where there is none."""
    libraries = [path for path in files.list(prefix / "lib") if path.name.startswith("python")]
    places = [path / "site-packages" for path in libraries] or [prefix / "Lib" / "site-packages"]
    return tuple(path for place in places for path in files.list(place))


def python_in(files: Files, prefix: Path) -> Path | None:
    """Return the interpreter of a virtual environment or conda prefix, as any system has it, or None."""
    names = ("bin/python", "bin/python3", "Scripts/python.exe", "python.exe")
    return next((prefix / name for name in names if files.exists(prefix / name)), None)


def resolved_in(site: Iterable[Path]) -> dict[str, str]:
    """Return versions by normalised name, as the names of what lies in site-packages tell them.

    >>> resolved_in([Path("Keras_Applications-1.0.8.dist-info"), Path("enum34-1.1-py3.6.egg-info"), Path("six.py")])
    {'keras-applications': '1.0.8', 'enum34': '1.1'}
    """
    found: dict[str, str] = {}
    for path in site:
        match = _INFO.fullmatch(path.name)
        if match:
            found[canonicalize_name(match["name"])] = match["version"]
    return found
