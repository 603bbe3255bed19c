"""How files of two folders can share their bytes on the disk, and how that is undone."""

from __future__ import annotations

import base64
import ctypes
import hashlib
import os
import shutil
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from envmgr.model.sharing import Sharing
from envmgr.system.keeper import confines
from envmgr.system.kept import KEEPS

_FICLONE = 0x40049409
_BLOCK = 1 << 20
_BYTECODE = "__pycache__"


def ways_to_share(source: Path, target: Path, scratch: Path) -> tuple[Sharing, str]:
    """Return how files below `target` can share the bytes of those below `source`, and why no better way was taken.

    `clone`: copies that share their blocks until one of them is written to. `hardlink`: names of one file, where this
    system can keep the processes that envmgr starts from writing to it. `copy`: not at all. Scratch is where `target`
    is.
    """
    if not _on_one_file_system(source, target):
        return "copy", f"uv's cache ({source}) is on another file system than the environments ({target})"
    if _clones(scratch):
        return "clone", ""
    kind = "the file system has no clones (APFS, btrfs and XFS have)"
    if not (KEEPS and confines()):
        return "copy", f"{kind}, and this system cannot keep a process from writing to linked files (Landlock can)"
    return "hardlink", kind


def detach(path: Path, workshop: Path) -> int:
    """Give every file at or below a path that has other names elsewhere bytes of its own; return how many had.

    Each is replaced at once by its copy, so that a reader finds the one or the other.
    """
    found = [Path(each) for each, facts in _files(path) if facts.st_nlink > 1]
    for number, each in enumerate(found):
        aside = workshop / str(number)
        shutil.copy2(each, aside)
        aside.replace(each)
    return len(found)


def places_of_bytecode(folder: Path, workshop: Path) -> tuple[Path, ...]:
    """Return the folders in which Python keeps bytecode of the modules below a folder, made where they are not there.

    What lies in them shares its bytes with nothing: whoever may write there reaches no other file.
    """
    found = []
    for place, inner, names in os.walk(folder):
        if _BYTECODE in inner:
            inner.remove(_BYTECODE)
        if not any(name.endswith(".py") for name in names):
            continue
        cache = Path(place, _BYTECODE)
        with suppress(FileExistsError):
            cache.mkdir()
        if not cache.is_symlink() and cache.is_dir():
            detach(cache, workshop)
            found.append(cache)
    return tuple(found)


def given_back(paths: Sequence[Path]) -> tuple[int, ...]:
    """Return how many bytes removing each path would give back, one after the other.

    A file with several names gives nothing back before its last one goes. What clones share is not known.
    """
    gone: dict[tuple[int, int], int] = {}
    sums = []
    for path in paths:
        total = 0
        for _, facts in _files(path):
            inode = (facts.st_dev, facts.st_ino)
            gone[inode] = gone.get(inode, 0) + 1
            if gone[inode] >= facts.st_nlink:
                total += facts.st_size
        sums.append(total)
    return tuple(sums)


def digest_of(path: Path, algorithm: str) -> str:
    """Return the digest of a file's bytes as a RECORD has it; empty when there is none."""
    try:
        digest = hashlib.new(algorithm)
        with path.open("rb", buffering=0) as stream:
            while block := stream.read(_BLOCK):
                digest.update(block)
    except (OSError, ValueError):
        return ""
    return base64.urlsafe_b64encode(digest.digest()).decode().rstrip("=")


def _files(path: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Yield every file at or below a path with its facts; links are not followed."""
    if path.is_dir() and not path.is_symlink():
        for folder, _, names in os.walk(path):
            for name in names:
                each = os.path.join(folder, name)  # noqa: PTH118 - a hot loop over strings
                with suppress(FileNotFoundError):
                    facts = os.lstat(each)
                    if stat.S_ISREG(facts.st_mode):
                        yield each, facts
    elif os.path.lexists(path):
        yield str(path), path.lstat()


def _on_one_file_system(one: Path, other: Path) -> bool:
    try:
        return _nearest(one).stat().st_dev == _nearest(other).stat().st_dev
    except OSError:
        return False


def _nearest(path: Path) -> Path:
    while not path.exists() and path != path.parent:
        path = path.parent
    return path


def _clones(scratch: Path) -> bool:
    """Try it: no list of file systems is complete."""
    first, second = scratch / "first", scratch / "second"
    first.write_bytes(b"0" * 4096)
    if sys.platform == "darwin":
        library = ctypes.CDLL(None)
        return bool(hasattr(library, "clonefile") and library.clonefile(bytes(first), bytes(second), 0) == 0)
    if sys.platform != "linux":
        return False
    import fcntl  # noqa: PLC0415 - not there on Windows

    with first.open("rb") as source, second.open("wb") as target:
        try:
            fcntl.ioctl(target, _FICLONE, source.fileno())
        except OSError:
            return False
    return True
