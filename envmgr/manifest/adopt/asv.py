"""asv.conf.json of airspeed velocity."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from envmgr.errors import UsageError
from envmgr.manifest.adopt.draft import Draft, minor_of, python_of_many, settle


def read_asv(text: str) -> tuple[Draft, ...]:
    """Return the draft of asv's environments; of several versions of a requirement the last listed is taken."""
    data = _load(text)
    pythons = [minor_of(str(each)) for each in data.get("pythons") or ()]
    specifier, variants = python_of_many(pythons)
    matrix = data.get("matrix") or {}
    wanted = matrix.get("req", matrix) if isinstance(matrix, Mapping) else {}
    notes: list[str] = []
    kept, unusable = settle(_requirements(wanted, notes))
    sorted_out = [key for key in ("include", "exclude") if data.get(key)]
    notes += [f"not taken over: {key}, which {key}s single combinations of the matrix" for key in sorted_out]
    notes += [f"not taken over: {key}" for key in ("conda_environment_file", "conda_channels") if data.get(key)]
    notes.append("the project itself and what it depends on are not in it: asv builds them from its repository")
    variables = {
        str(name): str(values[-1] if isinstance(values, list) else values)
        for name, values in ((matrix.get("env_nobuild") or {}) | (matrix.get("env") or {})).items()
        if values and (not isinstance(values, list) or values[-1] is not None)
    }
    return (
        Draft(
            requirements=kept,
            name=str(data.get("project") or ""),
            python=specifier,
            pythons=variants,
            variables=variables,
            notes=(*notes, *unusable),
        ),
    )


def _requirements(wanted: Mapping[str, Any], notes: list[str]) -> Iterator[str]:
    for key, values in wanted.items():
        if key in {"env", "env_nobuild", "@env"}:
            continue
        if re.search(r"://|[./]{2}|/.*/", key):
            notes.append(f"left out: {key.removeprefix('pip+')} comes from a folder or a repository, not from an index")
            continue
        versions = values if isinstance(values, list) else [values]
        chosen = versions[-1] if versions else ""
        if len(versions) > 1:
            listed = ", ".join(map(_told, versions))
            notes.append(f"{key} is measured at {listed}: this manifest takes {_told(chosen)}; write one each")
        if chosen is None:
            continue
        name = key.removeprefix("pip+").rpartition("/")[2]
        yield f"{name}=={chosen}" if re.match(r"\d", str(chosen)) else f"{name}{chosen}"


def _told(version: object) -> str:
    return "none" if version is None else str(version) or "the newest"


def _load(text: str) -> dict[str, Any]:
    """Read JSON with comments and trailing commas, as asv does."""
    bare = re.sub(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', lambda found: found[1] or "", text, flags=re.DOTALL)
    bare = re.sub(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])', lambda found: found[1] or "", bare)
    try:
        data = json.loads(bare)
    except ValueError as error:
        raise UsageError("asv.conf.json is no JSON", str(error), "mend it first") from None
    if not isinstance(data, dict):
        raise UsageError("asv.conf.json holds no table", "wanted { ... }", "asv quickstart")
    return data
