"""What a folder holds, told by the system's own records of each file."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

LINKED = "-"
"""Stands for the time of the last change of an inode with several names: each new name of it, anywhere, changes it."""


def snapshot(folder: Path) -> dict[str, str]:
    """Return kind, size, times and inode of everything below a folder, by its path from there.

    The time of the last change of a file's inode cannot be set by a program, so a write does not go unseen, whatever
    it does to the other times; a file with several names goes without. Links are not followed; of folders only that
    they are there is told.
    """
    root = str(folder)
    found: dict[str, str] = {}
    waiting = [root]
    while waiting:
        try:
            entries = os.scandir(waiting.pop())
        except OSError:
            continue
        with entries:
            for entry in entries:
                name = entry.path[len(root) + 1 :].replace(os.sep, "/")
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                    found[name] = "folder"
                else:
                    with suppress(FileNotFoundError):  # bytecode is written under a passing name first
                        found[name] = _told(entry.stat(follow_symlinks=False))
    return found


def facts_of(path: Path) -> str:
    """Return what a snapshot tells of one file; empty where none is."""
    try:
        return _told(path.lstat())
    except OSError:
        return ""


def _told(facts: os.stat_result) -> str:
    changed = LINKED if facts.st_nlink > 1 and stat.S_ISREG(facts.st_mode) else facts.st_ctime_ns
    return f"{facts.st_mode:o} {facts.st_size} {facts.st_mtime_ns} {changed} {facts.st_ino}"
