"""Copies of what a probe can see of its caller: the folder, and the settings in HOME; each experiment gets its own."""

from __future__ import annotations

import fnmatch
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from envmgr.diagnose.steering import is_everyday
from envmgr.env.content import words_of
from envmgr.model.finding import Edit, FileChanges
from envmgr.ports import Files

_LEFT_OUT = (
    ".cache", ".git", ".hg", ".envmgr", ".venv", "venv", "node_modules", "__pycache__", ".npm", ".cargo", ".rustup",
    ".pyenv", ".conda", "miniconda*", "anaconda*", "snap", ".mozilla", ".local", "Library", "*.lock",
)  # fmt: skip
_ENTRIES = 3000
_FILE_BYTES = 50_000_000
_HOME_ENTRIES = 300
_HOME_FILE_BYTES = 200_000
_BYTES = 200_000_000
_NAME_CACHES = ("_CACHE_DIR", "_CACHE_HOME")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The caller's folder and HOME as they were before anything was tried: `folder` holds `home/` and `cwd/`.

    `names` lists what is in it, as `home/.keras/keras.json`.
    """

    folder: Path
    names: tuple[str, ...]


def named_places(environment: Mapping[str, str], given: Mapping[str, str], system: str) -> list[str]:
    """Return what the values of variables may name: not those that every session has, nor caches."""
    telling = {
        name: text
        for name, text in environment.items()
        if not name.endswith(_NAME_CACHES) and (name.startswith("XDG_") or not is_everyday(name))
    }
    return [word for text in (*telling.values(), *given.values()) for word in words_of(text, system)]


def take_snapshot(files: Files, home: Path, folder: Path, named: Iterable[str], target: Path) -> Snapshot:
    """Copy the caller's folder, and of HOME the settings and whatever the variables' values name.

    What is large (data sets, weights, environments) is left out: 50 MB a file, 200 MB and 3000 files a folder; settings
    in HOME are files of up to 200 kB.
    """
    names: list[str] = []
    room = _BYTES
    for path in _within(files, folder, _ENTRIES, _FILE_BYTES):
        room -= files.size(path)
        if room >= 0:
            _take(files, path, folder, target / "cwd", names)
    mentioned = [Path(word) for word in named if Path(word).is_relative_to(home) and Path(word) != home]
    for entry in files.list(home):
        wanted = any(place.is_relative_to(entry) for place in mentioned)
        if entry == folder or folder.is_relative_to(entry) or (_is_left_out(entry.name) and not wanted):
            continue
        if not entry.name.startswith(".") and not wanted:
            continue
        limit = _ENTRIES if wanted else _HOME_ENTRIES
        for path in _within(files, entry, limit, _FILE_BYTES if wanted else _HOME_FILE_BYTES):
            _take(files, path, home, target / "home", names)
    for part in ("home", "cwd"):
        files.make_folder(target / part)
    return Snapshot(target, tuple(sorted(names)))


def _is_left_out(name: str) -> bool:
    return any(fnmatch.fnmatch(name, pattern) for pattern in _LEFT_OUT)


def _within(files: Files, place: Path, limit: int, size: int) -> Iterator[Path]:
    """Yield the files below a place, nearest first; nothing more once the limit is reached."""
    pending, seen = [place], 0
    while pending:
        current = pending.pop(0)
        if not files.is_folder(current):
            if files.is_plain_file(current) and files.size(current) <= size:
                yield current
            continue
        children = files.list(current)
        seen += len(children)
        if seen > limit:
            return
        if any(child.name == "pyvenv.cfg" for child in children):
            continue
        pending += [child for child in children if not _is_left_out(child.name)]


def _take(files: Files, path: Path, root: Path, target: Path, names: list[str]) -> None:
    relative = path.relative_to(root)
    files.copy(path, target / relative)
    names.append(f"{target.name}/{relative.as_posix()}")


def lay_out(files: Files, snapshot: Snapshot, changes: FileChanges, target: Path) -> None:
    """Make a fresh copy of the snapshot with the changes made in it."""
    files.copy(snapshot.folder, target)
    for name in changes.remove:
        files.remove(target / name)
    for name, text in changes.write.items():
        files.write(target / name, text)
    for edit in changes.edit:
        path = target / edit.path
        files.write(path, edited(files.read(path) or "", edit, as_json=path.suffix == ".json"))


def edited(text: str, edit: Edit, *, as_json: bool) -> str:
    """Return the text of a settings file with one key set, or taken out (None)."""
    if as_json or text.lstrip().startswith("{"):
        return _edited_json(text or "{}", edit)
    return _edited_lines(text, edit)


def _edited_json(text: str, edit: Edit) -> str:
    data: dict[str, Any] = json.loads(text)
    path = [edit.key] if edit.key in data else edit.key.split(".")
    holder = data
    for word in path[:-1]:
        holder = holder.setdefault(word, {})
    if edit.value is None:
        holder.pop(path[-1], None)
    else:
        holder[path[-1]] = edit.value
    return json.dumps(data, indent=1)


def _edited_lines(text: str, edit: Edit) -> str:
    section, _, name = edit.key.rpartition(".")
    lines = text.splitlines()
    entry = [] if edit.value is None else [f"{name} = {edit.value}"]
    within, end = "", 0 if not section else -1
    for at, line in enumerate(lines):
        stripped = line.strip()
        if stripped.startswith("[") and stripped.endswith("]"):
            within = stripped[1:-1]
        if section and within != section:
            continue
        end = at + 1
        if stripped.partition("=")[0].strip() == name:
            return "\n".join([*lines[:at], *entry, *lines[at + 1 :]]) + "\n"
    if end < 0:
        return "\n".join([*lines, f"[{section}]", *entry]) + "\n"
    return "\n".join([*lines[:end], *entry, *lines[end:]]) + "\n"


def rehomed(environment: Mapping[str, str], home: Path, new_home: Path) -> dict[str, str]:
    """Return variables in which every path below one HOME stands below another."""
    old, new = str(home), str(new_home)
    moved = dict(environment)
    for name, value in environment.items():
        if name.upper() != "PATH":
            moved[name] = value.replace(f"{old}/", f"{new}/").replace(f"{old}\\", f"{new}\\")
    moved["HOME"] = new
    if "USERPROFILE" in moved:
        moved["USERPROFILE"] = new
    return moved
