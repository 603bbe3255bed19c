"""requirements.txt, in all the shapes in which people write it, and what `pip freeze` prints."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from envmgr.manifest.adopt.draft import Draft, settle

_OPTION = re.compile(r"(?P<name>-{1,2}[A-Za-z][\w-]*)(?:[ =]\s*(?P<value>.*))?")
_LONG = {"-r": "--requirement", "-c": "--constraint", "-e": "--editable", "-i": "--index-url", "-f": "--find-links"}
_SILENT = frozenset({"--no-cache-dir", "--prefer-binary", "--require-hashes", "--only-binary", "--no-binary"})


@dataclass(slots=True)
class _Reading:
    requirements: list[str] = field(default_factory=list)
    constraints: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def read_requirements(text: str, others: Mapping[str, str]) -> tuple[Draft, ...]:
    """Return the draft of a requirements file with all files that it includes; hashes are left to the lock."""
    reading = _Reading()
    _read(text, "", others, reading, seen=frozenset())
    kept, notes = settle(reading.requirements)
    limits, unusable = settle(reading.constraints)
    return (Draft(kept, constraints=limits, notes=(*reading.notes, *notes, *unusable)),)


def _read(text: str, folder: str, others: Mapping[str, str], reading: _Reading, seen: frozenset[str]) -> None:
    for line in _lines(text):
        option = _OPTION.fullmatch(line)
        if option is None and re.match(r"(\w+\+)?\w+://|\.{0,2}/", line):
            reading.notes.append(f"left out: {_bare(line)} comes from a folder or a repository, not from an index")
            continue
        if option is None:
            reading.requirements.append(_without_hashes(line))
            continue
        name, value = _LONG.get(option["name"], option["name"]), (option["value"] or "").strip().strip("\"'")
        if name in {"--requirement", "--constraint"}:
            _follow(name, _within(folder, value), others, reading, seen)
        elif name == "--editable":
            reading.notes.append(f"left out: {_bare(value)} is installed in place; put it on the path of your command")
        elif name in {"--index-url", "--extra-index-url"}:
            reading.notes.append(f"the index {_bare(value)} is not taken over: name what it serves under [[index]]")
        elif name not in _SILENT:
            reading.notes.append(f"left out: {line}")


def _follow(name: str, path: str, others: Mapping[str, str], reading: _Reading, seen: frozenset[str]) -> None:
    if path in seen:
        return
    text = others.get(path)
    if text is None:
        reading.notes.append(f"left out: {path} is not there")
        return
    folder = str(PurePosixPath(path).parent)
    if name == "--requirement":
        _read(text, folder, others, reading, seen | {path})
        return
    inner = _Reading()
    _read(text, folder, others, inner, seen | {path})
    reading.constraints += [*inner.requirements, *inner.constraints]
    reading.notes += inner.notes


def _lines(text: str) -> Iterator[str]:
    joined = re.sub(r"\\\r?\n", " ", text.removeprefix("\ufeff"))
    for line in joined.splitlines():
        bare = re.sub(r"(^|\s+)#.*$", "", line).strip()
        if bare:
            yield bare


def _without_hashes(line: str) -> str:
    """Return a requirement without its per-requirement options.

    >>> _without_hashes("numpy==1.19.5 ; python_version < '3.9' --hash=sha256:ab --hash=sha256:cd")
    "numpy==1.19.5 ; python_version < '3.9'"
    """
    return re.sub(r"\s--(hash|global-option|config-settings?|install-option)[= ]\S+", "", line).strip()


def _within(folder: str, value: str) -> str:
    """Return a path as it is seen from the first file.

    >>> _within("ci", "../base.txt"), _within("", "./base.txt")
    ('base.txt', 'base.txt')
    """
    parts: list[str] = []
    for part in (*PurePosixPath(folder).parts, *PurePosixPath(value).parts):
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def _bare(url: str) -> str:
    return re.sub(r"(?<=://)[^/\s@]+@", "", url)
