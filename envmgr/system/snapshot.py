"""What a folder holds, told by the system's own records of each file."""

from __future__ import annotations

import os
from pathlib import Path


def snapshot(folder: Path) -> dict[str, str]:
    """Return kind, size, times and inode of everything below a folder, by its path from there.

    The time of the last change of a file's inode cannot be set by a program, so a write does not go unseen, whatever
    it does to the other times. Links are not followed; of folders only that they are there is told.
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
                    facts = entry.stat(follow_symlinks=False)
                    found[name] = (
                        f"{facts.st_mode:o} {facts.st_size} {facts.st_mtime_ns} {facts.st_ctime_ns} {facts.st_ino}"
                    )
    return found
