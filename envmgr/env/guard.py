"""Whether an env is still what was built: looked at from outside, file by file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from envmgr.env.accepted import HANDING, record_of, remember
from envmgr.env.linked import LINKED, is_linked
from envmgr.model.env import Env
from envmgr.ports import Files, Process, ProcessRequest

__all__ = ["Changes", "Guard", "bytecode_of", "changes_between", "record_of"]

_SCRIPT = Path(__file__).parent / "probes" / "recompile.py"
_NAMED = 3
_KEPT_BY_A_COPY = 3
"""Of what a snapshot tells of a file: its rights, its size, and when it was written."""
_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Changes:
    """What differs between two snapshots of an env, as paths from its folder."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    altered: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """The changes in one phrase, the first few by name; empty where there is none."""
        kinds = {"added": self.added, "removed": self.removed, "altered": self.altered}
        return "; ".join(f"{len(paths)} {kind} ({_some(paths)})" for kind, paths in kinds.items() if paths)


@dataclass(frozen=True, slots=True)
class _Record:
    """What an env held when it was accepted, and whether it is being handed over since then."""

    files: dict[str, str]
    handing: bool


def changes_between(before: Mapping[str, str], after: Mapping[str, str], *, handing: bool = False) -> Changes:
    """Return what differs between two snapshots; `handing` tells that the env is being handed over."""
    altered = (path for path, facts in after.items() if _differ(before.get(path, facts), facts, handing=handing))
    return Changes(
        added=tuple(sorted(after.keys() - before.keys())),
        removed=tuple(sorted(before.keys() - after.keys())),
        altered=tuple(sorted(altered)),
    )


def _differ(before: str, after: str, *, handing: bool = False) -> bool:
    """Tell whether a file is another one; when its inode changed last says nothing of one that had several names.

    One that has got a second name since is another one: that name may be there to hide a write. While an env is handed
    over, one that had several names may be its own copy: of the same rights, size and time, with one name.
    """
    if before == after:
        return False
    old, new = before.split(), after.split()
    if handing and is_linked(before) and not is_linked(after) and old[:_KEPT_BY_A_COPY] == new[:_KEPT_BY_A_COPY]:
        return False
    return len(old) != len(new) or any(one not in {other, LINKED} for one, other in zip(old, new, strict=True))


def bytecode_of(changes: Changes, before: Mapping[str, str]) -> tuple[str, ...]:
    """Return the added files that Python writes when it imports a module that was there before."""
    return tuple(path for path in changes.added if _source(path) in before)


class Guard:
    """Remembers what is in an env, beside the env, and tells what has changed since.

    Bytecode that an import has left is no change, but it is not trusted either: it is compiled anew.
    """

    def __init__(self, files: Files, process: Process) -> None:
        self._files = files
        self._process = process
        self._known: dict[Path, tuple[str, _Record]] = {}

    def accept(self, env: Env) -> None:
        """Take an env as it is now for what was built."""
        self._remember(env, self._files.snapshot(Path(env.path)))

    def hand_over(self, env: Env) -> None:
        """Take an env as it is now, and let its files be given bytes of their own until it is accepted again."""
        self._remember(env, self._files.snapshot(Path(env.path)), handing=True)

    def changes(self, env: Env) -> str:
        """Tell in one phrase what has changed in an env since it was accepted; empty when nothing has.

        Processes that share an env call this one at a time: bytecode is absent while it is compiled anew.
        """
        if not self._files.exists(Path(env.path)):
            return "its folder is gone"
        record = self._recall(env)
        can_write = self._files.can_write(record_of(Path(env.path)).parent)
        if record is None:
            if can_write:
                self.accept(env)
            return ""
        before = record.files
        changes = changes_between(before, self._files.snapshot(Path(env.path)), handing=record.handing)
        bytecode = bytecode_of(changes, before)
        harmless = {*bytecode, *(path for path in changes.added if PurePosixPath(path).name == "__pycache__")}
        foreign = Changes(
            added=tuple(path for path in changes.added if path not in harmless),
            removed=tuple(path for path in changes.removed if not _is_unfinished(path)),
            altered=changes.altered,
        )
        compiled = tuple(path for path in bytecode if not _is_unfinished(path))
        if not foreign.sentence and compiled and can_write:
            self._recompile(env, compiled)
            known = {*before, *compiled, *(str(PurePosixPath(path).parent) for path in compiled)}
            after = self._files.snapshot(Path(env.path))
            found = {path: facts for path, facts in after.items() if path in known}
            self._remember(env, found, handing=record.handing)
        return foreign.sentence

    def _recompile(self, env: Env, bytecode: tuple[str, ...]) -> None:
        with self._files.scratch("recompile") as scratch:
            listed = scratch / "list.txt"
            self._files.write(listed, "".join(f"{Path(env.path) / path}\n" for path in bytecode))
            argv = (env.python, "-I", "-S", "-B", str(_SCRIPT), str(listed))
            done = self._process.run(ProcessRequest(argv, cwd=scratch, env={}, timeout=_SECONDS))
        if not done.good:
            for path in bytecode:
                self._files.remove(Path(env.path) / path)

    def _remember(self, env: Env, found: dict[str, str], *, handing: bool = False) -> None:
        record = remember(self._files, Path(env.path), found, handing=handing)
        self._known[record] = (self._files.identity(record), _Record(found, handing))

    def _recall(self, env: Env) -> _Record | None:
        """Return what was accepted last, by whichever process."""
        record = record_of(Path(env.path))
        identity = self._files.identity(record)
        if record in self._known and self._known[record][0] == identity:
            return self._known[record][1]
        try:
            told = json.loads(self._files.read(record) or "")
            found = _Record({**told["files"]}, told.get(HANDING) is True)
        except (ValueError, KeyError, TypeError, AttributeError):
            return None
        self._known[record] = (identity, found)
        return found


def _source(path: str) -> str:
    """Return the source that a bytecode file, finished or not, belongs to, or a name that nothing has.

    >>> _source("lib/__pycache__/module.cpython-38.opt-1.pyc"), _source("lib/module.pyc")
    ('lib/module.py', '')
    """
    place = PurePosixPath(path.rpartition(".")[0] if _is_unfinished(path) else path)
    if place.suffix != ".pyc" or place.parent.name != "__pycache__" or not path.isprintable():
        return ""
    return str(place.parent.parent / f"{place.name.partition('.')[0]}.py")


def _is_unfinished(path: str) -> bool:
    """Tell whether a file is bytecode that some interpreter is writing: it gets its name once it is whole.

    >>> _is_unfinished("lib/__pycache__/module.cpython-311.pyc.140487187772352")
    True
    """
    place = PurePosixPath(path)
    return place.suffix[1:].isdigit() and place.stem.endswith(".pyc") and place.parent.name == "__pycache__"


def _some(paths: tuple[str, ...]) -> str:
    more = ", ..." if len(paths) > _NAMED else ""
    return ", ".join(paths[:_NAMED]) + more
