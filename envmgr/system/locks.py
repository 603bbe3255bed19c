"""Locks between processes: each is a file, and the system releases it when its holder dies."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from envmgr.errors import BuildError


@contextmanager
def hold(path: Path, timeout: float = -1) -> Iterator[None]:
    """Hold a lock; its folder is made. Raises BuildError when `timeout` seconds (negative: for ever) pass first.

    Where nothing can be written beside what is to be locked, there is no lock: who holds it can only read.
    """
    if is_for_reading_only(path.parent):
        yield
        return
    lock = FileLock(path, timeout=timeout)
    try:
        while True:
            path.parent.mkdir(parents=True, exist_ok=True)
            lock.acquire()
            if _is_locked(path, lock):
                break
            lock.release()
    except Timeout:
        raise BuildError(
            f"{path.name} is held by another process",
            f"wanted the lock within {timeout:g} s",
            "wait for the other envmgr to end, or look whether one hangs",
        ) from None
    try:
        yield
    finally:
        lock.release()


def is_for_reading_only(folder: Path) -> bool:
    """Tell whether a folder is there and nothing can be written into it: by its rights, or as its disk is read-only."""
    return folder.is_dir() and not os.access(folder, os.W_OK)


def drop(path: Path) -> bool:
    """Remove the file of a lock, and tell so, unless somebody holds it."""
    if not path.is_file():
        return False
    lock = FileLock(path, timeout=0)
    try:
        lock.acquire()
    except (Timeout, OSError):
        return False
    try:
        with suppress(PermissionError):  # on Windows what is open stays, until its lock is released
            if _is_locked(path, lock):
                path.unlink(missing_ok=True)
    finally:
        lock.release()
    return not path.exists()


def _is_locked(path: Path, lock: FileLock) -> bool:
    """Tell whether what is locked is the file at its place, and not one that was dropped while this one was opened."""
    held = lock._context.lock_file_fd  # noqa: SLF001 - no other way tells which file it is
    if held is None:
        return True  # a file system without locks: the file's being there is the lock
    try:
        return os.path.samestat(os.fstat(held), os.stat(path))  # noqa: PTH116 - samestat wants what os gives
    except FileNotFoundError:
        return False
