"""The extras and groups of a pyproject.toml that are asked for by name."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from envmgr.errors import UsageError
from envmgr.manifest.faults import suggest


def with_groups(data: Mapping[str, Any], wanted: Iterable[str]) -> dict[str, Any]:
    """Return a project in which some extras and groups (PEP 621, PEP 735, Poetry, pdm) are among the dependencies.

    Raises UsageError for a name that is neither.
    """
    made: dict[str, Any] = copy.deepcopy(dict(data))
    for name in wanted:
        _take(made, canonicalize_name(name), name)
    return made


def asked_by(data: Mapping[str, Any], name: str) -> Iterator[str]:
    """Yield what an extra or a group (PEP 621, PEP 735) of a project asks for; nothing where there is none."""
    project, key = data.get("project", {}), canonicalize_name(name)
    if _of(project.get("optional-dependencies", {}), key) is not None:
        yield from _extra(project, key, frozenset())
    else:
        yield from _group(data.get("dependency-groups", {}), key, frozenset())


def _take(data: dict[str, Any], key: str, name: str) -> None:
    project, groups = data.setdefault("project", {}), data.get("dependency-groups", {})
    extras, tools = project.get("optional-dependencies", {}), data.get("tool", {})
    poetry, pdm = tools.get("poetry", {}), tools.get("pdm", {}).get("dev-dependencies", {})
    if _of(extras, key) is not None:
        _ask(project, _extra(project, key, frozenset()))
        _drop(extras, key)
    elif _of(groups, key) is not None:
        _ask(project, _group(groups, key, frozenset()))
        _drop(groups, key)
    elif _of(poetry.get("group", {}), key) is not None:
        poetry.setdefault("dependencies", {}).update(_of(poetry["group"], key).get("dependencies", {}))
        _drop(poetry["group"], key)
    elif _of(pdm, key) is not None:
        _ask(project, map(str, _of(pdm, key)))
        _drop(pdm, key)
    elif key == "dev" and "dev-dependencies" in poetry:
        poetry.setdefault("dependencies", {}).update(poetry.pop("dev-dependencies"))
    elif _of(poetry.get("extras", {}), key) is not None:
        _no_longer_optional(poetry, _of(poetry["extras"], key))
        _drop(poetry["extras"], key)
    else:
        known = [*extras, *groups, *pdm, *poetry.get("group", {}), *poetry.get("extras", {})]
        listed = f"wanted one of: {', '.join(known)}" if known else "it has none"
        raise UsageError(f"{name!r} is no extra and no group of the project", listed, suggest(name, known))


def _of(table: Mapping[str, Any], key: str) -> Any:
    return next((value for name, value in table.items() if canonicalize_name(name) == key), None)


def _drop(table: dict[str, Any], key: str) -> None:
    for name in [name for name in table if canonicalize_name(name) == key]:
        del table[name]


def _ask(project: dict[str, Any], texts: Iterable[str]) -> None:
    project["dependencies"] = [*project.get("dependencies", ()), *texts]


def _extra(project: Mapping[str, Any], key: str, within: frozenset[str]) -> Iterator[str]:
    """Yield what an extra asks for; where that is the project with other extras, what these ask for."""
    own = canonicalize_name(str(project.get("name", "")))
    for text in _of(project.get("optional-dependencies", {}), key) or ():
        try:
            asked = Requirement(text)
        except InvalidRequirement:
            yield text
            continue
        if canonicalize_name(asked.name) != own:
            yield text
        for other in sorted(asked.extras) if canonicalize_name(asked.name) == own else ():
            if canonicalize_name(other) not in within:
                yield from _extra(project, canonicalize_name(other), within | {key})


def _group(groups: Mapping[str, Any], key: str, within: frozenset[str]) -> Iterator[str]:
    """Yield what a group asks for, with what the groups ask for that it includes."""
    for entry in _of(groups, key) or ():
        other = canonicalize_name(str(entry.get("include-group", ""))) if isinstance(entry, Mapping) else ""
        if not isinstance(entry, Mapping):
            yield str(entry)
        elif other not in within | {key}:
            yield from _group(groups, other, within | {key})


def _no_longer_optional(poetry: dict[str, Any], names: Iterable[str]) -> None:
    asked = {canonicalize_name(name) for name in names}
    for name, wanted in poetry.get("dependencies", {}).items():
        for each in wanted if isinstance(wanted, list) else [wanted]:
            if isinstance(each, dict) and canonicalize_name(name) in asked:
                each.pop("optional", None)
