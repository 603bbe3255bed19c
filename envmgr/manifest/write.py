"""Writes a draft as the text of a manifest."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from envmgr.manifest.adopt.draft import Draft

SCHEMA_LINE = "#:schema schemas/manifest.json"
"""The first line of a manifest: editors complete and check by it."""

RUNNERS = ("import_probe",)
"""What may measure a version set of which nothing but its requirements is known."""


_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
"""What no comment of TOML may hold."""


def write_draft(draft: Draft, name: str, source: str) -> str:
    """Return the TOML text of a manifest; what could not be taken over stands in it as comments."""
    lines = [SCHEMA_LINE, "schema = 1", f"name = {_text(name)}", f"summary = {_text(f'made from {source}')}"]
    lines += [f"# {_CONTROL.sub(' ', line)}" for note in draft.notes for line in note.splitlines()]
    lines.append(f"python = {_text(draft.python)}")
    lines += _list("requirements", draft.requirements)
    if draft.overrides:
        lines.append("# what is said here takes the place of what other distributions ask for, and adds nothing")
        lines += _list("overrides", draft.overrides)
    if draft.exclude_newer:
        lines.append(f"exclude-newer = {draft.exclude_newer}")
    lines += _list("build-constraints", draft.build_constraints)
    lines.append(f"runners = [{', '.join(_text(runner) for runner in RUNNERS)}]")
    if draft.pythons:
        lines += ["", "[variants]", f"python = [{', '.join(_text(each) for each in draft.pythons)}]"]
    if draft.build_requires:
        needed = (f"{_text(name)} = [{', '.join(map(_text, each))}]" for name, each in draft.build_requires.items())
        lines += ["", "[build-requires]", *needed]
    if draft.variables:
        lines += ["", "[env]", *(f"{_text(key)} = {_text(value)}" for key, value in draft.variables.items())]
    for index in draft.indexes:
        lines += ["", "[[index]]", f"name = {_text(index.name)}", f"url = {_text(index.url)}"]
        lines += _list("packages", index.packages)
    return "\n".join(lines) + "\n"


def _list(key: str, values: Iterable[str]) -> list[str]:
    values = tuple(values)
    return [f"{key} = [", *(f"    {_text(value)}," for value in values), "]"] if values else []


def _text(value: str) -> str:
    """Return a basic string of TOML."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
