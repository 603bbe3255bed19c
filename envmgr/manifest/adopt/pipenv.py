"""Pipfile and Pipfile.lock of Pipenv."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from envmgr.errors import UsageError
from envmgr.manifest.adopt.draft import ANY_PYTHON, Draft, DraftIndex, python_range, settle, without_credentials
from envmgr.manifest.adopt.indexes import indexes_of

_TABLES = frozenset({"source", "packages", "requires", "pipenv", "scripts"})
_MARKERS = (
    "os_name", "sys_platform", "platform_machine", "platform_python_implementation", "platform_release",
    "platform_system", "platform_version", "python_version", "python_full_version", "implementation_name",
    "implementation_version",
)  # fmt: skip
_ELSEWHERE = ("git", "hg", "svn", "bzr", "path", "file", "url")


def read_pipfile(text: str) -> tuple[Draft, ...]:
    """Return the draft of `[packages]`; other categories are named in notes, not installed."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError("Pipfile is no TOML", str(error), "mend it first") from None
    others = [name for name, table in data.items() if name not in _TABLES and isinstance(table, Mapping) and table]
    return (_draft(data.get("packages"), data.get("source"), data.get("requires"), others),)


def read_pipfile_lock(text: str) -> tuple[Draft, ...]:
    """Return the draft of the locked versions of `default`; hashes are left to envmgr's lock."""
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise UsageError("Pipfile.lock is no JSON", str(error), "pipenv lock") from None
    if not isinstance(data, Mapping):
        raise UsageError("Pipfile.lock holds no table", "wanted { ... }", "pipenv lock")
    meta = _table(data.get("_meta"))
    others = [name for name, table in data.items() if name not in {"_meta", "default"} and table]
    return (_draft(data.get("default"), meta.get("sources"), meta.get("requires"), others),)


def _draft(listed: Any, sources: Any, required: Any, others: Iterable[str]) -> Draft:
    """Return the draft of three tables; what is of another shape says nothing."""
    packages, requires = _table(listed), _table(required)
    texts: list[str] = []
    notes: list[str] = []
    for name, wanted in packages.items():
        table = wanted if isinstance(wanted, Mapping) else {"version": str(wanted)}
        if any(key in table for key in _ELSEWHERE):
            notes.append(f"left out: {name} comes from a folder, a repository or an address")
        else:
            texts.append(_requirement(name, table))
    kept, unusable = settle(texts)
    indexes, untold = _indexes(packages, tuple(map(_table, sources if isinstance(sources, list) else ())))
    categories = ", ".join(others)
    left = (f"not taken over: the packages of {categories}",) if categories else ()
    python = str(requires.get("python_full_version") or requires.get("python_version") or ANY_PYTHON)
    return Draft(
        requirements=kept,
        python=f"=={python}" if re.fullmatch(r"3\.\d+\.\d+", python) else python_range(python),
        indexes=indexes,
        notes=(*notes, *unusable, *untold, *left),
    )


def _requirement(name: str, table: Mapping[str, Any]) -> str:
    given = table.get("version")
    version = given.strip() if isinstance(given, str) else "*"
    version = "" if version == "*" else f"=={version}" if version[:1].isdigit() else version
    extras = (
        f"[{','.join(map(str, table['extras']))}]" if isinstance(table.get("extras"), list) and table["extras"] else ""
    )
    markers = [str(table["markers"])] if table.get("markers") else []
    markers += [f"{key} {table[key]}" for key in _MARKERS if key in table]
    joined = " and ".join(f"({each})" if len(markers) > 1 and " or " in each else each for each in markers)
    return f"{name}{extras}{version}" + (f" ; {joined}" if joined else "")


def _indexes(
    packages: Mapping[str, Any], sources: tuple[Mapping[str, Any], ...]
) -> tuple[tuple[DraftIndex, ...], tuple[str, ...]]:
    """Return the indexes that serve packages by name; the first source is the default, as the host has it."""
    served: dict[str, list[str]] = {}
    for package, wanted in packages.items():
        if isinstance(wanted, Mapping) and wanted.get("index"):
            served.setdefault(str(wanted["index"]), []).append(package)
    for source in sources[:1]:
        served.pop(str(source.get("name", "")), None)
    made, notes = indexes_of(sources[1:], served)
    return made, (*_default(sources), *notes)


def _default(sources: tuple[Mapping[str, Any], ...]) -> Iterator[str]:
    if sources and sources[0].get("name") != "pypi":
        url = without_credentials(str(sources[0].get("url", "")))
        yield f"the default index {url} is not taken over: pip's or uv's own configuration says which one it is"


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
