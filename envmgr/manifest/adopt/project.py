"""pyproject.toml (PEP 621, dependency groups, Poetry) and pylock.toml (PEP 751)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from packaging.version import InvalidVersion, Version

from envmgr.errors import UsageError
from envmgr.manifest.adopt.draft import ANY_PYTHON, Draft, DraftIndex, python_range, settle


def read_pyproject(text: str) -> tuple[Draft, ...]:
    """Return the draft of a project's dependencies; its extras and groups are named in notes, not installed."""
    data = _toml(text, "pyproject.toml")
    project = data.get("project", {})
    poetry = data.get("tool", {}).get("poetry", {})
    if not project.get("dependencies") and poetry.get("dependencies"):
        return (_poetry(poetry),)
    kept, notes = settle(project.get("dependencies", ()))
    own = data.get("tool", {}).get("uv", {})
    limits, unusable = settle(own.get("constraint-dependencies", ()))
    overrides, also_unusable = settle(own.get("override-dependencies", ()))
    indexes, untold = _indexes(own)
    extras = [*project.get("optional-dependencies", {}), *data.get("dependency-groups", {})]
    if "dependencies" in project.get("dynamic", ()):
        notes += ("its dependencies are dynamic: only its build backend knows them",)
    return (
        Draft(
            requirements=kept,
            name=str(project.get("name", "")),
            python=python_range(project.get("requires-python", ANY_PYTHON)),
            constraints=limits,
            overrides=overrides,
            indexes=indexes,
            notes=(*notes, *unusable, *also_unusable, *untold, *_left(extras)),
        ),
    )


def _indexes(own: Mapping[str, Any]) -> tuple[tuple[DraftIndex, ...], tuple[str, ...]]:
    """Return the indexes of uv's settings with what they serve, and notes on those that serve nothing by name."""
    served: dict[str, list[str]] = {}
    notes: list[str] = []
    for package, source in own.get("sources", {}).items():
        each = source[0] if isinstance(source, list) and source else source
        if isinstance(each, Mapping) and each.get("index"):
            served.setdefault(str(each["index"]), []).append(package)
            if isinstance(source, list) and len(source) > 1:
                notes.append(f"{package} has several sources: its index is {each['index']} here, whatever the platform")
        else:
            notes.append(f"left out: the source of {package} is a folder, a repository or an address")
    made = []
    for index in own.get("index", ()):
        name, url = str(index.get("name", "")), re.sub(r"(?<=://)[^/\s@]+@", "", str(index.get("url", "")))
        if name in served:
            made.append(DraftIndex(name, url, tuple(served[name])))
        else:
            notes.append(f"the index {url} is not taken over: name what it serves under [[index]]")
    return tuple(made), tuple(notes)


def read_pylock(text: str) -> tuple[Draft, ...]:
    """Return the draft of a lock of PEP 751: its versions, pinned; hashes and addresses are left to envmgr's lock."""
    data = _toml(text, "pylock.toml")
    texts = [
        f"{entry['name']}=={entry['version']}" + (f" ; {entry['marker']}" if entry.get("marker") else "")
        for entry in data.get("packages", ())
        if entry.get("version")
    ]
    unpinned = [entry["name"] for entry in data.get("packages", ()) if not entry.get("version")]
    kept, notes = settle(texts)
    notes += tuple(f"left out: {name} comes from a folder or a repository" for name in unpinned)
    return (Draft(kept, python=python_range(data.get("requires-python", ANY_PYTHON)), notes=notes),)


def _poetry(poetry: Mapping[str, Any]) -> Draft:
    dependencies = dict(poetry["dependencies"])
    python = dependencies.pop("python", ANY_PYTHON)
    texts: list[str] = []
    notes: list[str] = []
    for name, wanted in dependencies.items():
        for each in wanted if isinstance(wanted, list) else (wanted,):
            found = _poetry_requirement(name, each)
            if found is None:
                notes.append(f"left out: {name} comes from a folder or a repository, or is optional")
            else:
                texts.append(found)
    kept, unusable = settle(texts)
    groups = [*poetry.get("group", {}), *(["dev"] if "dev-dependencies" in poetry else [])]
    return Draft(
        requirements=kept,
        name=str(poetry.get("name", "")),
        python=python_range(python if isinstance(python, str) else ANY_PYTHON),
        notes=(*notes, *unusable, *_left(groups)),
    )


def _poetry_requirement(name: str, wanted: Any) -> str | None:
    if isinstance(wanted, str):
        return f"{name}{_specifier(wanted)}"
    if not isinstance(wanted, Mapping) or "version" not in wanted or wanted.get("optional"):
        return None
    extras = f"[{','.join(wanted['extras'])}]" if wanted.get("extras") else ""
    markers = [str(wanted["markers"])] if wanted.get("markers") else []
    pythons = re.findall(r"([<>=!~]+)\s*(\d+\.\d+)", _specifier(str(wanted.get("python", ""))))
    markers += [f"python_version {operator} '{version}'" for operator, version in pythons]
    joined = " and ".join(f"({each})" if len(markers) > 1 and " or " in each else each for each in markers)
    return f"{name}{extras}{_specifier(wanted['version'])}" + (f" ; {joined}" if joined else "")


def _specifier(text: str) -> str:
    """Return Poetry's way to ask for versions as PEP 440.

    >>> _specifier("^1.2.3"), _specifier("~1.2"), _specifier("1.4"), _specifier("*"), _specifier(">=2,<3")
    ('>=1.2.3,<2', '>=1.2,<1.3', '==1.4', '', '>=2,<3')
    """
    return ",".join(part for each in text.split(",") for part in _one(each.strip()))


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


def _left(names: Iterable[str]) -> tuple[str, ...]:
    listed = ", ".join(dict.fromkeys(names))
    return (f"not taken over: the extras and groups {listed}",) if listed else ()


def _toml(text: str, name: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{name} is no TOML", str(error), "mend it first") from None
