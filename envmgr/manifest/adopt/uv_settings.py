"""`[tool.uv]` of pyproject.toml."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from envmgr.manifest.adopt.draft import Draft, DraftIndex, settle
from envmgr.manifest.adopt.indexes import indexes_of

_TAKEN = frozenset(
    {"sources", "index", "constraint-dependencies", "override-dependencies", "build-constraint-dependencies",
     "extra-build-dependencies", "exclude-newer", "package", "managed", "default-groups", "workspace", "cache-keys",
     "required-version", "build-backend", "publish-url", "check-url", "conflicts", "cache-dir", "link-mode"}
)  # fmt: skip
"""Settings that are taken over or told of by themselves, and those that say nothing of what is installed."""


def with_settings(draft: Draft, own: Mapping[str, Any]) -> Draft:
    """Return a draft with what uv is told of it: indexes, limits, overrides, the day, needs of builds.

    What comes from a folder or a repository is left out of the requirements: an index may have another of that name.
    """
    limits, unusable = settle(own.get("constraint-dependencies", ()))
    overrides, also_unusable = settle(own.get("override-dependencies", ()))
    build_limits, unusable_limits = settle(own.get("build-constraint-dependencies", ()))
    elsewhere, told = _elsewhere(own.get("sources", {}))
    indexes, untold = _indexes(own)
    build_requires, unbuilt = _build_requires(own.get("extra-build-dependencies", {}), indexes)
    day = str(own.get("exclude-newer", ""))
    dated = re.match(r"\d{4}-\d{2}-\d{2}", day)
    left = [key for key in own if key not in _TAKEN] + (["exclude-newer"] if day and not dated else [])
    return replace(
        draft,
        requirements=_without(draft.requirements, elsewhere),
        constraints=(*draft.constraints, *limits),
        overrides=(*draft.overrides, *overrides),
        build_constraints=build_limits,
        build_requires=build_requires,
        exclude_newer=dated[0] if dated else "",
        indexes=(*draft.indexes, *indexes),
        notes=(*draft.notes, *unusable, *also_unusable, *unusable_limits, *told, *untold, *unbuilt,
               *((f"not taken over: uv's settings {', '.join(left)}",) if left else ())),
    )  # fmt: skip


def _without(requirements: Iterable[str], names: frozenset[str]) -> tuple[str, ...]:
    return tuple(text for text in requirements if canonicalize_name(Requirement(text).name) not in names)


def _elsewhere(sources: Mapping[str, Any]) -> tuple[frozenset[str], tuple[str, ...]]:
    """Return the names of what no index serves, and the notes on it."""
    names: set[str] = set()
    notes: list[str] = []
    for package, source in sources.items():
        each = [one for one in (source if isinstance(source, list) else [source]) if isinstance(one, Mapping)]
        others = [one for one in each if not one.get("index")]
        if not others:
            continue
        if len(others) == len(each) and not any(one.get("marker") or one.get("extra") for one in others):
            names.add(canonicalize_name(package))
            notes.append(f"left out: {package} comes from a folder, a repository or an address")
        else:
            notes.append(f"left out: a source of {package} that is a folder, a repository or an address")
    return frozenset(names), tuple(notes)


def _indexes(own: Mapping[str, Any]) -> tuple[tuple[DraftIndex, ...], tuple[str, ...]]:
    """Return the indexes of uv's settings with what they serve, and notes on those that serve nothing by name."""
    served: dict[str, list[str]] = {}
    notes: list[str] = []
    for package, source in own.get("sources", {}).items():
        each = source if isinstance(source, list) else [source]
        named = [str(one["index"]) for one in each if isinstance(one, Mapping) and one.get("index")]
        if named:
            served.setdefault(named[0], []).append(package)
        if len(each) > 1 and named:
            notes.append(f"{package} has several sources: its index is {named[0]} here, whatever the platform")
    made, untold = indexes_of(own.get("index", ()), served)
    return made, (*notes, *untold)


def _build_requires(
    table: Mapping[str, Any], indexes: Iterable[DraftIndex]
) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...]]:
    """Return what is needed to build each distribution besides what it declares, and notes on what cannot be said.

    Tables name it by `requirement`. What an explicit index serves no build can be given.
    """
    served = {canonicalize_name(package) for index in indexes for package in index.packages}
    needed: dict[str, tuple[str, ...]] = {}
    notes: list[str] = []
    for name, listed in table.items():
        kept, unusable = settle(str(one["requirement"] if isinstance(one, Mapping) else one) for one in listed)
        own = [text for text in kept if canonicalize_name(Requirement(text).name) in served]
        notes += [*unusable, *(f"left out: {text}, which {name} needs to be built, is of an own index" for text in own)]
        if len(own) < len(kept):
            needed[name] = tuple(text for text in kept if text not in own)
    return needed, tuple(notes)
