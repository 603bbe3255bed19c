"""requirements.txt, in all the shapes in which people write it, and what `pip freeze` prints."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from envmgr.manifest.adopt.draft import Draft, settle, without_credentials

_OPTION = re.compile(r"(?P<name>-{1,2}[A-Za-z][\w-]*)(?:[ =]\s*(?P<value>.*))?")
_LONG = {"-r": "--requirement", "-c": "--constraint", "-e": "--editable", "-i": "--index-url", "-f": "--find-links"}
_GLUED = re.compile(r"-([rceif])(?![\s=-])")
_PLACE = re.compile(
    r"(\w+\+)?\w+://|\.{0,2}[/\\]|~/|\.{1,2}(\[|$)|[A-Za-z]:\\|[^\s;@\[<>=!~]+\.(whl|zip|tgz|tar\.\w+)(\s|;|\[|#|$)"
)
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
        if option is None and _PLACE.match(line):
            reading.notes.append(
                f"left out: {without_credentials(line)} comes from a folder or a repository, not from an index"
            )
            continue
        if option is None:
            reading.requirements.append(_without_hashes(line))
            continue
        name, value = _LONG.get(option["name"], option["name"]), (option["value"] or "").strip().strip("\"'")
        if name in {"--requirement", "--constraint"}:
            _follow(name, _within(folder, value), others, reading, seen)
        elif name == "--editable":
            reading.notes.append(_in_place(value))
        elif name in {"--index-url", "--extra-index-url"}:
            reading.notes.append(
                f"the index {without_credentials(value)} is not taken over: name what it serves under [[index]]"
            )
        elif name not in _SILENT:
            reading.notes.append(f"left out: {line}")


def _follow(name: str, path: str, others: Mapping[str, str], reading: _Reading, seen: frozenset[str]) -> None:
    if path in seen:
        return
    if "://" in path:
        bare = without_credentials(path)
        reading.notes.append(f"left out: {bare} is an address: fetch it, and name the file instead")
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
            yield _GLUED.sub(r"-\1 ", bare, count=1) if _GLUED.match(bare) else bare


def _without_hashes(line: str) -> str:
    """Return a requirement without its per-requirement options.

    >>> _without_hashes("numpy==1.19.5 ; python_version < '3.9' --hash=sha256:ab --hash=sha256:cd")
    "numpy==1.19.5 ; python_version < '3.9'"
    """
    return re.split(r"\s--(?=[a-z])", line, maxsplit=1)[0].strip()


def _within(folder: str, value: str) -> str:
    """Return a path as it is seen from the first file; an address is as it is.

    >>> _within("ci", "../base.txt"), _within("", "./base.txt")
    ('base.txt', 'base.txt')
    """
    if "://" in value:
        return value
    parts: list[str] = []
    for part in (*PurePosixPath(folder).parts, *PurePosixPath(value).parts):
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def _in_place(value: str) -> str:
    if re.match(r"(\w+\+)?\w+://", value):
        return f"left out: {without_credentials(value)} comes from a repository, not from an index"
    told = "put it on the path of your command, and what it depends on into the requirements"
    return f"left out: {without_credentials(value)} is installed in place: {told}"
