"""`[tool.pdm]` of pyproject.toml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from envmgr.manifest.adopt.draft import Draft, settle
from envmgr.manifest.adopt.indexes import indexes_of

_MANY = "*?["


def with_pdm(draft: Draft, own: Mapping[str, Any]) -> Draft:
    """Return a draft with what pdm is told of it: indexes by what they serve, and what takes others' place."""
    served: dict[str, list[str]] = {}
    notes: list[str] = []
    sources = [source for source in own.get("source", ()) if source.get("name") != "pypi"]
    for source in sources:
        asked = [str(name) for name in source.get("include_packages", ())]
        named = [name for name in asked if not set(name) & set(_MANY)]
        notes += [f"left out: {name} of the index {source.get('name')}" for name in asked if name not in named]
        if named:
            served[str(source.get("name", ""))] = named
    links = [source for source in sources if source.get("type") == "find_links"]
    notes += [f"not taken over: the folder of wheels {source.get('name', '')}" for source in links]
    indexes, untold = indexes_of([source for source in sources if source not in links], served)
    listed = own.get("resolution", {}).get("overrides", {})
    overrides, unusable = settle(f"{name}{_specifier(str(wanted))}" for name, wanted in listed.items())
    return replace(
        draft,
        indexes=(*draft.indexes, *indexes),
        overrides=(*draft.overrides, *overrides),
        notes=(*draft.notes, *notes, *untold, *unusable),
    )


def _specifier(wanted: str) -> str:
    """Return a version or a range of pdm's overrides as PEP 440; an address stays one, which no lock can hold.

    >>> _specifier("1.2"), _specifier(">=1,<2"), _specifier("*"), _specifier("https://own.example/a.whl")
    ('==1.2', '>=1,<2', '', ' @ https://own.example/a.whl')
    """
    if "://" in wanted:
        return f" @ {wanted}"
    return "" if wanted == "*" else f"=={wanted}" if wanted[:1].isdigit() else wanted
