"""Locks: found, judged, made."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from envmgr.app.workplace import Workplace
from envmgr.errors import LockError
from envmgr.lock.inputs import staleness
from envmgr.lock.parse import parse
from envmgr.model.lock import Lock
from envmgr.model.manifest import Target


@dataclass(frozen=True, slots=True)
class LockFound:
    """A fresh lock, where it stands, whether it was just made, and what is to be told about it."""

    lock: Lock
    path: Path
    made: bool = False
    notes: tuple[str, ...] = ()


def lock_paths(workplace: Workplace, target: Target) -> tuple[Path, ...]:
    """Return where the lock of a target may stand: committed beside the manifest first, then made on this machine."""
    file = Path(target.manifest.name) / f"{target.variant}-{target.platform}.txt"
    return workplace.project.locks / file, workplace.project.own_locks / file


def read_lock(workplace: Workplace, target: Target) -> LockFound | None:
    """Return the lock of a target, stale or not, or None if there is none; raises LockError for a damaged one."""
    for path in lock_paths(workplace, target):
        text = workplace.files.read(path)
        if text is not None:
            return LockFound(parse(text, workplace.project.shown(path)), path)
    return None


def existing_lock(workplace: Workplace, target: Target) -> LockFound | None:
    """Return the lock of a target, or None if there is none; raises LockError for a stale one."""
    found = read_lock(workplace, target)
    if found is None:
        return None
    reason = staleness(found.lock, target)
    if reason:
        raise LockError(
            f"the lock of {target.label} for {target.platform} is stale",
            f"{workplace.project.shown(found.path)}: {reason}",
            f"envmgr lock {target.label} --platform {target.platform}",
        )
    return found
