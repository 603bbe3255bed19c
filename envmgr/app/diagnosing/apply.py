"""Writes a fix into the manifest, with its comments kept; what a manifest cannot hold is left to the user and told."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import tomlkit
from tomlkit.items import AoT, Comment, Item, Table, Whitespace

from envmgr.model.finding import Fix, Variables
from envmgr.model.manifest import Index, Step


def applied(text: str, fix: Fix) -> str:
    """Return the manifest's text with the fix in it; every line that the fix does not touch stays as it is.

    Files and advice have no place in a manifest and are passed over.
    """
    document = tomlkit.parse(text)
    _put_keys(document, fix)
    _put_tables(document, fix)
    return tomlkit.dumps(document)


def _put_keys(document: tomlkit.TOMLDocument, fix: Fix) -> None:
    """Write the keys that stand before the tables; they come first, for a table may have to move for a new one."""
    if fix.python is not None:
        document["python"] = python_specifier(fix.python)
    if fix.requirements is not None:
        _put(document, "requirements", list(fix.requirements))
    elif fix.steps is not None:
        document.pop("requirements", None)
    if fix.exclude_newer is not None:
        _put(document, "exclude-newer", tomlkit.date(fix.exclude_newer[:10]) if fix.exclude_newer else None)
    for key, lines in (("overrides", fix.overrides), ("build-constraints", fix.build_constraints)):
        if lines is not None:
            _put(document, key, list(lines) or None)
    if fix.env is not None and fix.env.unset:
        known = [str(name) for name in document.get("unset", [])]
        _put(document, "unset", list(dict.fromkeys([*known, *fix.env.unset])))


def _put_tables(document: tomlkit.TOMLDocument, fix: Fix) -> None:
    if fix.python is not None:
        variants = document.get("variants")
        if isinstance(variants, Table) and set(variants) <= {"python"}:
            _take_out(document, "variants")
        elif isinstance(variants, Table):
            variants.pop("python", None)
    if fix.requirements is not None or fix.steps is not None:
        _take_out(document, "step")
    if fix.requirements is None and fix.steps is not None:
        _put_list(document, "step", [_step(step) for step in fix.steps])
    if fix.build_requires is not None:
        _put_table(document, "build-requires", {name: list(lines) for name, lines in fix.build_requires.items()})
    if fix.index is not None:
        _take_out(document, "index")
        _put_list(document, "index", [_index(one) for one in fix.index])
    if fix.env is not None:
        _put_variables(document, fix.env)


def python_specifier(request: str) -> str:
    """Return the PEP 440 specifier for a uv request: a minor stands for all its patches.

    >>> python_specifier("3.9"), python_specifier("cpython-3.11.4-macos-aarch64")
    ('==3.9.*', '==3.11.4')
    """
    match = re.search(r"\d+\.\d+(?:\.\d+)?", request)
    version = match[0] if match else request
    return f"=={version}.*" if version.count(".") == 1 else f"=={version}"


def _step(step: Step) -> dict[str, Any]:
    told = {"install": list(step.install), "uninstall": list(step.uninstall), "flags": list(step.flags)}
    return {key: value for key, value in told.items() if value} | {"installer": step.installer}


def _index(index: Index) -> dict[str, Any]:
    return {"name": index.name, "url": index.url, "packages": list(index.packages)}


def _put_variables(document: tomlkit.TOMLDocument, variables: Variables) -> None:
    table = document.get("env")
    if isinstance(table, Table):
        for name in variables.unset:
            table.pop(name, None)
    new = {name: value for name, value in variables.set.items() if dict(document.get("env", {})).get(name) != value}
    if new:
        _put_table(document, "env", new)


def _put(document: tomlkit.TOMLDocument, key: str, value: Any) -> None:
    """Set a key where it stands, or before the first table, where TOML wants it; None takes it out."""
    if value is None:
        document.pop(key, None)
    elif key in document:
        document[key] = value
    else:
        _before_tables(document, key, value)


def _before_tables(document: tomlkit.TOMLDocument, key: str, value: Any) -> None:
    """Add a key behind the last one that stands before the tables; comments on a table stay with it."""
    tables = {name: document[name] for name in list(document) if isinstance(document[name], Table | AoT)}
    for name in tables:
        document.pop(name)
    behind: list[Item] = []
    while document.body and document.body[-1][0] is None:
        behind.insert(0, document.body.pop()[1])
    document[key] = value
    for item in behind:
        if isinstance(item, Comment | Whitespace):
            document.add(item)
    for name, table in tables.items():
        document[name] = table


def _put_table(document: tomlkit.TOMLDocument, key: str, content: Mapping[str, Any]) -> None:
    table = document.get(key)
    if isinstance(table, Table):
        table.update(content)
        return
    new = tomlkit.table()
    new.update(content)
    document[key] = new


def _put_list(document: tomlkit.TOMLDocument, key: str, entries: list[dict[str, Any]]) -> None:
    if not entries:
        return
    tables = tomlkit.aot()
    for entry in entries:
        table = tomlkit.table()
        table.update(entry)
        tables.append(table)
    document[key] = tables


def _take_out(document: tomlkit.TOMLDocument, key: str) -> None:
    """Take out a table, or all of one name; the comments behind it are about what comes next, and stay."""
    if key not in document:
        return
    found = document.item(key)
    last = found[-1] if isinstance(found, AoT) else found
    behind: list[Item] = []
    while isinstance(last, Table) and last.value.body and last.value.body[-1][0] is None:
        behind.insert(0, last.value.body.pop()[1])
    at = next(number for number, (own, _) in enumerate(document.body) if own is not None and own.key == key)
    document.pop(key)
    text = "".join(item.as_string() for item in behind)
    if text:
        document.body[at] = (None, Whitespace(text, fixed=True))
