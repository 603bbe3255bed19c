"""Scratch folders that serve again: for a short process, making and removing a few folders costs more than all else."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePath
from typing import NamedTuple

from envmgr.system.files import RealFiles

_Facts = tuple[int, ...]


class _Room(NamedTuple):
    """A folder, what removes it, and what the system said of it and of each folder in it when they were made."""

    path: Path
    removal: ExitStack
    made: Mapping[str, _Facts]


class Rooms:
    """Gives scratch folders that hold the same empty folders; one that comes back as it was given is given again.

    Any number of threads may take one at the same time. `spent` names files that may be left, by the folder in which
    they may: they are removed. With `again` false every room is a new one.
    """

    def __init__(
        self, files: RealFiles, folders: Collection[str], spent: Mapping[str, Collection[str]], *, again: bool
    ) -> None:
        self._files = files
        self._below = {
            name: {PurePath(each).name for each in folders if PurePath(each).parent == PurePath(name)}
            for name in ("", *folders)
        }
        self._spent = spent
        self._again = again
        self._free: list[_Room] = []

    @contextmanager
    def take(self, purpose: str) -> Iterator[Path]:
        """Give a room; what was in it must have ended when it is given back."""
        try:
            room = self._free.pop()
        except IndexError:
            room = self._new(purpose)
        kept = False
        try:
            yield room.path
            kept = self._again and self._is_as_made(room)
        finally:
            if kept:
                self._free.append(room)
            else:
                room.removal.close()

    def close(self) -> None:
        """Remove the rooms that nobody has taken."""
        while self._free:
            self._free.pop().removal.close()

    def _new(self, purpose: str) -> _Room:
        removal = ExitStack()
        path = removal.enter_context(self._files.scratch(purpose))
        for name in self._below:
            self._files.make_folder(path / name)
        return _Room(path, removal, {name: _facts(str(path / name)) for name in self._below})

    def _is_as_made(self, room: _Room) -> bool:
        """Remove what may be left, and tell whether nothing else is, and the folders are those that were made."""
        try:
            for name, facts in room.made.items():
                folder = f"{room.path}/{name}" if name else str(room.path)  # a hot loop over strings
                if _facts(folder) != facts:
                    return False
                for found in set(os.listdir(folder)) - self._below[name]:  # noqa: PTH208
                    left = f"{folder}/{found}"
                    if found not in self._spent.get(name, ()) or not stat.S_ISREG(os.lstat(left).st_mode):
                        return False
                    os.unlink(left)  # noqa: PTH108
        except OSError:
            return False
        return True


def _facts(folder: str) -> _Facts:
    found = os.lstat(folder)
    return found.st_mode, found.st_uid, found.st_gid, found.st_ino, found.st_dev
