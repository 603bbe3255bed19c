from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

_HEAD = 512


class Program(NamedTuple):
    """A program as it is found, and what its file begins with."""

    place: Path
    head: bytes


def find_program(name: str, path: str) -> Program | None:
    """Return the program that a name without a folder means on a search path; None where there is none to be read."""
    found = shutil.which(name, path=path)
    if found is None:
        return None
    try:
        with Path(found).open("rb") as stream:
            return Program(Path(found), stream.read(_HEAD))
    except OSError:
        return None
