from __future__ import annotations

import atexit
import errno
import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from envmgr.model.sharing import Sharing
from envmgr.system import locks, placing
from envmgr.system.owned import is_held, is_orphan, is_own, owned_name
from envmgr.system.portrait import lay_out, take_portrait
from envmgr.system.sharing import detach, digest_of, given_back, places_of_bytecode, ways_to_share
from envmgr.system.snapshot import facts_of, snapshot

_CLAIM = ".used-by"
_NOT_TO_BE_WRITTEN = frozenset({errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTDIR})


class RealFiles:
    """The disk: a file is written aside and renamed, so that it is whole or not there; what is absent reads as None."""

    def __init__(self, scratch_folder: Path) -> None:
        self._scratch_folder = scratch_folder
        self._swept: set[str] = set()
        self._workshops: dict[str, str] = {}
        self._in_use: set[Path] = set()

    def read(self, path: Path) -> str | None:
        """Return the text of a file (UTF-8, undecodable bytes replaced), or None if there is no such file."""
        try:
            # A run is many small files: as few calls for each as can be.
            with open(path, "rb", buffering=0) as stream:  # noqa: PTH123
                text = stream.readall().decode("utf-8", "replace")
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None
        return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text

    def write(self, path: Path, text: str, *, durable: bool = True) -> None:
        """Write a file whole or not at all; its folder is made, and what killed writers left there is removed.

        One that is not durable survives the end of any process, but a loss of power only after `settle`. A device or a
        pipe gets the text; nothing is put in its place.
        """
        if placing.is_device(path):
            path.write_text(text, encoding="utf-8")
            return
        with self._half_made(path) as aside:
            placing.fill(aside, text, durable=durable)
            placing.bring(aside, os.fspath(path))

    def add(self, path: Path, text: str, *, durable: bool = True) -> None:
        """Write a file as `write` does where none is; raises FileExistsError where one is, whoever came first."""
        with self._half_made(path) as aside:
            placing.fill(aside, text, durable=durable)
            try:
                os.link(aside, path)
            except FileExistsError:
                raise
            except OSError:  # a file system without links: whoever comes while another adds waits for that to be done
                self._bring_alone(aside, path)

    def _bring_alone(self, aside: str, path: Path) -> None:
        """Bring a file to its place, never over another, with all others of this name kept from doing so meanwhile."""
        name = hashlib.sha256(str(path.absolute()).encode()).hexdigest()[:32]
        turn = Path(self._workshop(os.fspath(path.parent)), f".adding-{name}.lock")
        try:
            with self.lock(turn):
                if os.path.lexists(path):
                    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
                placing.bring(aside, os.fspath(path))
        finally:
            self.drop_lock(turn)

    def bring(self, source: Path, target: Path) -> None:
        """Bring a file from scratch to its place, whole or not at all; another one there is replaced.

        To another file system it is copied, beside its place first.
        """
        placing.bring(os.fspath(source), os.fspath(target))

    @contextmanager
    def _half_made(self, path: Path) -> Iterator[str]:
        """Give the place where a file is made before it is brought to its own; what is still there then is removed.

        That is in scratch, where the next command finds what a killed one has left, unless it is another file system.
        """
        # Strings: that this is done with paths takes as long as the disk.
        folder = placing.folder_of(os.fspath(path))
        placing.make_sure_of(folder)
        if folder not in self._swept:
            self.sweep(Path(folder))
        aside = placing.owned_beside(self._workshop(folder), path.name)
        try:
            yield aside
        finally:
            with suppress(FileNotFoundError):
                os.unlink(aside)  # noqa: PTH108

    def _workshop(self, folder: str) -> str:
        scratch = os.fspath(self._scratch_folder)
        try:
            placing.make_sure_of(scratch)
            known = self._workshops.get(folder)
            if known is None:
                near = os.stat(scratch).st_dev == os.stat(folder).st_dev  # noqa: PTH116
                known = self._workshops[folder] = scratch if near and os.access(scratch, os.W_OK) else folder
        except OSError:
            return folder
        return known

    def settle(self) -> None:
        """Bring to the disk what was written before."""
        if hasattr(os, "sync"):
            os.sync()

    def sweep(self, folder: Path) -> None:
        """Remove what ended processes left half-made in a folder; a process looks once."""
        if os.fspath(folder) not in self._swept:
            self._swept.add(os.fspath(folder))
            for path in _entries(folder):
                if (path.suffix == ".part" or folder == self._scratch_folder) and is_orphan(path.name):
                    self.remove(path)

    def _sweep_own(self) -> None:
        """Sweep scratch, and the folders of envmgr's own around it, whoever wrote there."""
        if os.fspath(self._scratch_folder) not in self._swept:
            around = self._scratch_folder.parent
            for folder in (self._scratch_folder, around, *_entries(around)):
                if folder.is_dir() and not folder.is_symlink():
                    self.sweep(folder)

    def copy(self, source: Path, target: Path) -> None:
        """Copy a file, whole or not at all, or a folder.

        Links inside a folder are followed, so that the copy shares nothing; one that leads nowhere has nothing to copy.
        """
        placing.make_sure_of(target.parent)
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True, ignore_dangling_symlinks=True)
            return
        with self._half_made(target) as aside:
            shutil.copy2(source, aside)
            placing.bring(aside, os.fspath(target))

    def link(self, source: Path, target: Path) -> None:
        """Make `target` a symbolic link to `source`, replacing what is there."""
        placing.make_sure_of(target.parent)
        target.unlink(missing_ok=True)
        target.symlink_to(source)

    def exists(self, path: Path) -> bool:
        """Tell whether something is there, a broken link included."""
        return os.path.lexists(path)

    def is_folder(self, path: Path) -> bool:
        """Tell whether the path is a folder."""
        return path.is_dir()

    def is_plain_file(self, path: Path) -> bool:
        """Tell whether the path is a regular file: no link, no pipe, no folder."""
        try:
            return stat.S_ISREG(os.lstat(path).st_mode)
        except (OSError, ValueError):
            return False

    def is_file(self, path: Path) -> bool:
        """Tell whether the path is a regular file or a link that leads to one: no pipe, device or circle of links."""
        return path.is_file()

    def can_write(self, folder: Path) -> bool:
        """Tell whether files can be made in a folder, or it can be made as far as is known."""
        return not locks.is_for_reading_only(folder)

    def make_folder(self, path: Path) -> None:
        """Make a folder and those above it; one that is there is left alone."""
        placing.make_sure_of(path)

    def remove(self, path: Path) -> None:
        """Remove a file, a link (never what it points to) or a whole folder; what is absent is left so."""
        if path.is_symlink() or path.is_file():
            path.unlink(missing_ok=True)
        elif path.is_dir():
            _remove_tree(path)

    def list(self, folder: Path) -> tuple[Path, ...]:
        """Return what a folder holds, sorted; nothing for a folder that is not there."""
        return _entries(folder)

    def names(self, folder: Path) -> tuple[str, ...]:
        """Return the names of what a folder holds, sorted: of thousands, they cost less than their paths."""
        return _names(folder)

    def size(self, path: Path) -> int:
        """Return the bytes of a file or of all files below a folder, each hard-linked file counted once."""
        try:
            found = os.lstat(path)
        except (FileNotFoundError, NotADirectoryError):
            return 0
        if not stat.S_ISDIR(found.st_mode):
            return found.st_size
        seen: set[tuple[int, int]] = set()
        total = 0
        for folder, _, names in os.walk(path):
            for name in names:
                facts = os.lstat(os.path.join(folder, name))  # noqa: PTH118 - a hot loop over strings
                if (facts.st_dev, facts.st_ino) not in seen:
                    seen.add((facts.st_dev, facts.st_ino))
                    total += facts.st_size
        return total

    def portrait(self, folder: Path) -> str | None:
        """Return a small folder of texts and links as one text; None when there is more in it."""
        return take_portrait(folder)

    def lay_out(self, portrait: str, folder: Path) -> None:
        """Make a folder as its portrait describes it; nothing may be there yet."""
        lay_out(portrait, folder)

    def snapshot(self, folder: Path) -> dict[str, str]:
        """Return what the system says of everything below a folder; a write below it changes what is returned."""
        return snapshot(folder)

    def facts(self, path: Path) -> str:
        """Return what a snapshot tells of one file; empty where none is."""
        return facts_of(path)

    def digest(self, path: Path, algorithm: str) -> str:
        """Return the digest of a file's bytes as a RECORD has it; empty when there is none."""
        return digest_of(path, algorithm)

    def ways_to_share(self, source: Path, target: Path) -> tuple[Sharing, str]:
        """Return how files of two folders can share their bytes (clone, hardlink, copy), and why not better."""
        with self.scratch("share") as scratch:
            return ways_to_share(source, target, scratch)

    def detach(self, path: Path) -> int:
        """Give every file at or below a path that has other names bytes of its own; return how many had."""
        with self.scratch("detach") as scratch:
            return detach(path, scratch)

    def places_of_bytecode(self, folder: Path) -> tuple[Path, ...]:
        """Return the folders, made if need be, in which Python keeps the bytecode of the modules below a folder."""
        with self.scratch("bytecode") as scratch:
            return places_of_bytecode(folder, scratch)

    def given_back(self, paths: Sequence[Path]) -> tuple[int, ...]:
        """Return how many bytes removing each path would give back, one after the other."""
        return given_back(paths)

    def move(self, source: Path, target: Path) -> None:
        """Move a file or folder to a place where nothing is, within a file system."""
        placing.make_sure_of(target.parent)
        source.rename(target)

    def identity(self, path: Path) -> str:
        """Return a digest of a file's size, time and inode, which changes when the file is replaced; "" if absent."""
        try:
            facts = path.stat()
        except OSError:
            return ""
        text = f"{facts.st_size} {facts.st_mtime_ns} {facts.st_ino}"
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def free_space(self, path: Path) -> int:
        """Return the free bytes of the file system that holds the path or its nearest existing parent."""
        while not path.exists() and path != path.parent:
            path = path.parent
        return shutil.disk_usage(path).free

    @contextmanager
    def scratch(self, purpose: str) -> Iterator[Path]:
        """Give a new empty folder and remove it with everything in it afterwards, or after a kill at the next call.

        Where the cache cannot be written, it is among the system's temporary files: to look at a host needs no cache.
        """
        try:
            placing.make_sure_of(self._scratch_folder)
            self._sweep_own()
            folder = self._scratch_folder / owned_name(purpose)
            folder.mkdir(mode=0o700)
        except OSError as error:
            if error.errno not in _NOT_TO_BE_WRITTEN:
                raise
            folder = Path(tempfile.mkdtemp(prefix=f"envmgr-{purpose}-"))
        if not self._in_use:
            atexit.unregister(self._clear)
            atexit.register(self._clear)
        self._in_use.add(folder)
        try:
            yield folder
        finally:
            self.remove(folder)
            self._in_use.discard(folder)

    def _clear(self) -> None:
        """Remove scratch that is still in use when this program ends: threads that used it end with it."""
        for folder in tuple(self._in_use):
            shutil.rmtree(folder, ignore_errors=True)

    def claim(self, folder: Path) -> None:
        """Tell other processes that this one uses a folder until it ends, if anything can be written beside it."""
        if not self.can_write(folder.parent):
            return
        claims = self._claims(folder)
        if not any(is_own(path.name) for path in claims):
            for path in claims:
                if is_orphan(path.name):
                    path.unlink(missing_ok=True)
            own = folder.parent / owned_name(f"{folder.name}{_CLAIM}")
            placing.make_sure_of(own.parent)
            own.touch()
            atexit.register(own.unlink, missing_ok=True)

    def is_claimed(self, folder: Path) -> bool:
        """Tell whether another process that still runs uses a folder."""
        return any(is_held(path) and not is_own(path.name) for path in self._claims(folder))

    def is_orphan(self, path: Path) -> bool:
        """Tell whether a folder of scratch belongs to a process that has ended."""
        return is_orphan(path.name)

    def _claims(self, folder: Path) -> tuple[Path, ...]:
        return tuple(path for path in _entries(folder.parent) if path.name.startswith(f"{folder.name}{_CLAIM}."))

    def lock(self, path: Path, timeout: float = -1) -> AbstractContextManager[None]:
        """Hold an inter-process lock; it is released by the system when its holder dies.

        Raises BuildError when `timeout` seconds (negative: for ever) pass first.
        """
        return locks.hold(path, timeout)

    def drop_lock(self, path: Path) -> bool:
        """Remove the file of a lock, and tell so, unless somebody holds it."""
        return locks.drop(path)


def _entries(folder: Path) -> tuple[Path, ...]:
    return tuple(folder / name for name in _names(folder))


def _names(folder: Path) -> tuple[str, ...]:
    try:
        return tuple(sorted(os.listdir(folder)))  # noqa: PTH208 - names sort faster than paths
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return ()


def _remove_tree(folder: Path) -> None:
    """Remove a folder; what is read-only is made writable first, what vanishes meanwhile is no error."""
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:
        shutil.rmtree(folder, ignore_errors=True)
    except PermissionError:
        for place, _, _ in os.walk(folder):
            os.chmod(place, 0o700)  # noqa: PTH101 - os.walk gives strings
        shutil.rmtree(folder)
