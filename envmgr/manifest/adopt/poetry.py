"""`[tool.poetry]` of pyproject.toml."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from packaging.version import InvalidVersion, Version

from envmgr.manifest.adopt.draft import (
    ANY_PYTHON,
    Draft,
    DraftIndex,
    groups_left,
    python_range,
    settle,
)
from envmgr.manifest.adopt.indexes import indexes_of


def read_poetry(poetry: Mapping[str, Any]) -> Draft:
    """Return the draft of Poetry's own dependencies; what is optional, and its groups, are named in notes."""
    dependencies = dict(poetry["dependencies"])
    python = dependencies.pop("python", ANY_PYTHON)
    texts: list[str] = []
    notes: list[str] = []
    for name, wanted in dependencies.items():
        for each in wanted if isinstance(wanted, list) else (wanted,):
            table = each if isinstance(each, Mapping) else {"version": each}
            if table.get("optional"):
                notes.append(f"left out: {name} is optional")
            elif not isinstance(table.get("version"), str):
                notes.append(f"left out: {name} comes from a folder or a repository")
            else:
                texts.append(_requirement(name, table, notes))
    kept, unusable = settle(texts)
    groups = [*poetry.get("group", {}), *(["dev"] if "dev-dependencies" in poetry else []), *poetry.get("extras", {})]
    indexes, untold = indexes_of_poetry(poetry)
    return Draft(
        requirements=kept,
        name=str(poetry.get("name", "")),
        python=python_range(python if isinstance(python, str) else ANY_PYTHON),
        indexes=indexes,
        notes=(*notes, *unusable, *untold, *groups_left(groups)),
    )


def indexes_of_poetry(poetry: Mapping[str, Any]) -> tuple[tuple[DraftIndex, ...], tuple[str, ...]]:
    """Return Poetry's sources with what names them, and notes on those that nothing names."""
    served: dict[str, list[str]] = {}
    for package, wanted in poetry.get("dependencies", {}).items():
        for each in wanted if isinstance(wanted, list) else (wanted,):
            if isinstance(each, Mapping) and each.get("source"):
                served.setdefault(str(each["source"]), []).append(package)
    return indexes_of(poetry.get("source", ()), served)


def _requirement(name: str, table: Mapping[str, Any], notes: list[str]) -> str:
    """Return a dependency as PEP 508; of alternatives the last is taken, which is told."""
    asked = str(table["version"])
    if "||" in asked:
        notes.append(f"of the alternatives {asked} of {name} the last is taken")
        asked = asked.rpartition("||")[2]
    if table.get("allow-prereleases"):
        notes.append(
            f"not taken over: pre-releases of {name} are allowed; a range that names one, as >=2.0b1, does that"
        )
    extras = f"[{','.join(table['extras'])}]" if table.get("extras") else ""
    markers = [str(table["markers"])] if table.get("markers") else []
    pythons = re.findall(r"([<>=!~]+)\s*(\d+\.\d+)", _specifier(str(table.get("python", ""))))
    markers += [f"python_version {operator} '{version}'" for operator, version in pythons]
    joined = " and ".join(f"({each})" if len(markers) > 1 and " or " in each else each for each in markers)
    return f"{name}{extras}{_specifier(asked)}" + (f" ; {joined}" if joined else "")


def _specifier(text: str) -> str:
    """Return Poetry's way to ask for versions as PEP 440.

    >>> _specifier("^1.2.3"), _specifier("~1.2"), _specifier("1.4"), _specifier("*"), _specifier(">=2,<3")
    ('>=1.2.3,<2', '>=1.2,<1.3', '==1.4', '', '>=2,<3')
    >>> _specifier(">=0.38 <1.0")
    '>=0.38,<1.0'
    """
    joined = re.sub(r"(?<=[\w*])\s+(?=[<>=!~^])", ",", text.strip())
    return ",".join(part for each in joined.split(",") for part in _one(each.strip()))


def _one(text: str) -> Iterator[str]:
    if text in {"", "*"}:
        return
    operator, bare = text[0], text[1:]
    try:
        release = Version(bare).release
    except InvalidVersion:
        release = ()
    if operator == "^" and release:
        place = next((number for number, value in enumerate(release) if value), len(release) - 1)
        yield from (f">={bare}", f"<{'.'.join(str(part) for part in _raised(release[: place + 1]))}")
    elif operator == "~" and release and not bare.startswith("="):
        yield from (f">={bare}", f"<{'.'.join(str(part) for part in _raised(release[:2]))}")
    else:
        yield f"=={text}" if text[0].isdigit() else text


def _raised(release: tuple[int, ...]) -> tuple[int, ...]:
    return (*release[:-1], release[-1] + 1)
