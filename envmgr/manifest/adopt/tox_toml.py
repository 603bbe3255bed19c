"""tox.toml, and `[tool.tox]` of pyproject.toml."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from envmgr.errors import UsageError
from envmgr.manifest.adopt.draft import Draft, minor_of, python_of_many, with_all_notes
from envmgr.manifest.adopt.requirements import read_requirements
from envmgr.manifest.adopt.tox import (
    COMMANDS_LEFT,
    PROJECT_LEFT,
    is_of_another_python,
    pythons_in,
    read_tox,
    without_python,
)


def read_tox_toml(text: str, others: Mapping[str, str]) -> tuple[Draft, ...]:
    """Return one draft for each set of factors that differ in more than the Python, named by those factors."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError("tox.toml is no TOML", str(error), "mend it first") from None
    return environments_of_tox(data, others)


def environments_of_tox(data: Mapping[str, Any], others: Mapping[str, str]) -> tuple[Draft, ...]:
    """Return the drafts of tox's settings as a table, or as the text of a tox.ini in it."""
    if "legacy_tox_ini" in data:
        return read_tox(str(data["legacy_tox_ini"]), others)
    groups: dict[str, list[str]] = {}
    for name in dict.fromkeys((*_names(data.get("env_list", ())), *data.get("env", {}))):
        if not is_of_another_python(name):
            groups.setdefault(without_python(name), []).append(name)
    return with_all_notes(_draft(data, rest, members, others) for rest, members in (groups or {"": []}).items())


def _names(listed: Any) -> Iterator[str]:
    """Yield the names of a list of environments, with those of a product of factors in it."""
    for entry in listed:
        if not isinstance(entry, Mapping):
            yield str(entry)
            continue
        axes = [_range(axis) for axis in entry.get("product", ())]
        left_out = entry.get("exclude", ())
        yield from (name for each in itertools.product(*axes) if (name := "-".join(each)) not in left_out)


def _range(axis: Any) -> list[str]:
    """Return the factors of one axis: a list of them, or `{ prefix = "py3", start = 10, stop = 14 }`."""
    if isinstance(axis, Mapping):
        numbers = range(int(axis.get("start", 0)), int(axis.get("stop", -1)) + 1)
        return [f"{axis.get('prefix', '')}{number}" for number in numbers]
    return [str(part) for part in axis]


def _draft(data: Mapping[str, Any], rest: str, members: list[str], others: Mapping[str, str]) -> Draft:
    own: Mapping[str, Any] = next((data["env"][name] for name in (*members, rest) if name in data.get("env", {})), {})
    settings = {**data.get("env_run_base", {}), **own}
    notes = [COMMANDS_LEFT] if settings.get("commands") else []
    if not (settings.get("skip_install") or settings.get("package") == "skip" or data.get("no_package")):
        extras = ", ".join(map(str, settings.get("extras", ())))
        notes.append(PROJECT_LEFT + (f", nor are its extras {extras}" if extras else ""))
    notes += [f"not taken over: {key}" for key in ("dependency_groups", "pip_pre") if settings.get(key)]
    asked = settings.get("deps", ())
    lines = list(_lines(data, asked.splitlines() if isinstance(asked, str) else asked, notes))
    inner, *_ = read_requirements("\n".join(lines), others)
    base = settings.get("base_python", ())
    asked_pythons = pythons_in(members) or [minor_of(str(each)) for each in ([base] if isinstance(base, str) else base)]
    specifier, variants = python_of_many(asked_pythons)
    variables = dict(_variables(settings.get("set_env", {}), notes))
    notes += inner.notes
    return replace(inner, name=rest, python=specifier, pythons=variants, variables=variables, notes=tuple(notes))


def _lines(data: Mapping[str, Any], asked: Any, notes: list[str], deep: bool = True) -> Iterator[str]:
    """Yield requirements as lines of a requirements file; a reference to those of another environment is followed."""
    for entry in asked:
        if not isinstance(entry, Mapping):
            yield str(entry).replace("{tox_root}/", "")
            continue
        place = entry.get("of") or ["env", entry.get("env"), entry.get("key")]
        found: Any = data
        for key in place:
            found = found.get(key, {}) if isinstance(found, Mapping) else {}
        if entry.get("replace") == "ref" and isinstance(found, list) and deep:
            yield from _lines(data, found, notes, deep=False)
        else:
            notes.append(f"left out: {dict(entry)}")


def _variables(table: Mapping[str, Any], notes: list[str]) -> Iterator[tuple[str, str]]:
    for name, value in table.items():
        if isinstance(value, str) and "{" not in value:
            yield name, value
        else:
            notes.append(f"left out: the variable {name}")
