"""How a file comes to its place, with strings: that this is done with paths takes as long as the disk."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from pathlib import Path

from envmgr.system.owned import owned_name

_LONGEST = 100
"""Characters of a file's name that stand in the name under which it is made."""


def make_sure_of(folder: str | Path) -> None:
    """Make a folder and those above it; one that is there is left alone, which is the quick case."""
    if not os.path.isdir(folder):  # noqa: PTH112 - called for every file that is written
        Path(folder).mkdir(parents=True, exist_ok=True)


def folder_of(path: str) -> str:
    """Return the folder that a file is in."""
    return os.path.dirname(path) or os.curdir  # noqa: PTH120 - called for every file that is written


def bring(source: str, target: str) -> None:
    """Bring a file to its place, whole or not at all; to another file system it is copied, beside its place first."""
    folder = folder_of(target)
    make_sure_of(folder)
    try:
        os.replace(source, target)  # noqa: PTH105 - called for every file that is written
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        beside = owned_beside(folder, Path(target).name)
        try:
            shutil.copy2(source, beside)
            Path(beside).replace(target)
        finally:
            Path(beside).unlink(missing_ok=True)


def is_device(path: Path) -> bool:
    """Tell whether a path leads to a device, a pipe or a socket: nothing to put something else in the place of."""
    try:
        kind = os.stat(path).st_mode  # noqa: PTH116 - called for every file that is written
    except OSError:
        return False
    return not stat.S_ISREG(kind) and not stat.S_ISDIR(kind)


def fill(path: str, text: str, *, durable: bool) -> None:
    """Write a new file; one that is durable is on the disk then."""
    with open(path, "x", encoding="utf-8", newline="\n") as stream:  # noqa: PTH123 - called for every file
        stream.write(text)
        if durable:
            stream.flush()
            os.fsync(stream.fileno())


def owned_beside(folder: str, name: str) -> str:
    """Return where in a folder a file is half made, under a name that tells whose it is."""
    return os.path.join(folder, owned_name(f".{name[:_LONGEST]}", ".part"))  # noqa: PTH118 - called for every file
