"""The indexes that other tools name, with what each of them serves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from packaging.utils import canonicalize_name

from envmgr.manifest.adopt.draft import DraftIndex, without_credentials


def indexes_of(
    listed: Iterable[Mapping[str, Any]], served: Mapping[str, Iterable[str]]
) -> tuple[tuple[DraftIndex, ...], tuple[str, ...]]:
    """Return the indexes that serve packages by name, and notes on those that serve none or are not known.

    `listed` are tables with `name` and `url`; `served` are the packages that name an index.
    """
    made: list[DraftIndex] = []
    notes: list[str] = []
    left = {name: tuple(dict.fromkeys(packages)) for name, packages in served.items()}
    for index in listed:
        name, url = str(index.get("name", "")), without_credentials(str(index.get("url", "")))
        packages = left.pop(name, ()) if url else ()
        if packages and "$" not in url:
            made.append(DraftIndex(canonicalize_name(name), url, packages))
        elif url:
            notes.append(f"the index {url} is not taken over: name what it serves under [[index]]")
    notes += [
        f"the index {name} of {', '.join(packages)} has no address: name it under [[index]]"
        for name, packages in sorted(left.items())
        if name != "pypi"
    ]
    return tuple(made), tuple(notes)
