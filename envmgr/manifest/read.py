"""Reads manifests and matrices from TOML: every fault of a file is told at once, with its line and column."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from envmgr.errors import ManifestError
from envmgr.manifest.faults import Fault, manifest_error, suggest
from envmgr.manifest.positions import Key
from envmgr.model.manifest import Manifest, Matrix
from envmgr.model.outcome import NEVER_OBSERVED

Shape = TypeVar("Shape", Manifest, Matrix)

SCHEMA = 1
"""The newest form of manifest and matrix that this envmgr reads."""

_WANTED = {
    "string_type": "a string",
    "tuple_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
    "bool_type": "true or false",
    "float_type": "a number",
    "date_type": "a date such as 2019-06-01",
    "date_parsing": "a date such as 2019-06-01",
    "date_from_datetime_parsing": "a date such as 2019-06-01",
    "date_from_datetime_inexact": "a date such as 2019-06-01",
    "too_short": "at least one item",
    "string_too_short": "a text that is not empty",
}


def parse_manifest(text: str, source: str) -> Manifest:
    """Return the manifest that a TOML text holds; `source` is the file's name for messages."""
    return _parse(text, source, Manifest)


def parse_matrix(text: str, source: str) -> Matrix:
    """Return the matrix that a TOML text holds; `source` is the file's name for messages."""
    return _parse(text, source, Matrix)


def _parse(text: str, source: str, shape: type[Shape]) -> Shape:
    text = text.removeprefix("\ufeff")
    data = _load(text, source)
    _check_schema(data, text, source, shape.__name__.lower())
    try:
        return shape.model_validate(data, by_alias=True, by_name=False)
    except ValidationError as error:
        faults = [_fault(item, shape) for item in error.errors() if not _follows(item)]
    raise manifest_error(source, text, faults)


def _load(text: str, source: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
    found = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)$", message)
    reason = message[: found.start()] if found else message
    last = text.count("\n") + 1
    line, column = (found[1], found[2]) if found and found[1] else (str(last), str(len(text.rsplit("\n", 1)[-1]) + 1))
    raise ManifestError(
        f"{source}:{line}:{column}: not valid TOML: {reason}",
        f"the line reads: {text.splitlines()[int(line) - 1].strip()}" if int(line) <= len(text.splitlines()) else "",
        "Strings need quotes, lists need brackets; https://toml.io describes the format.",
    )


def _check_schema(data: Mapping[str, Any], text: str, source: str, kind: str) -> None:
    if "schema" not in data:
        raise manifest_error(
            source,
            text,
            [Fault((), "the key 'schema' is missing", f"wanted schema = {SCHEMA}", f"Add the line: schema = {SCHEMA}")],
        )
    schema = data["schema"]
    if type(schema) is int and schema > SCHEMA:
        raise manifest_error(
            source,
            text,
            [
                Fault(
                    ("schema",),
                    f"this {kind} is written for a newer envmgr",
                    f"wanted schema = {SCHEMA}, found {schema}",
                    "Update envmgr.",
                )
            ],
        )


def _follows(error: Any) -> bool:
    """Tell whether a list is called too short only because its items have faults of their own."""
    return bool(error["type"] == "too_short" and len(error["input"]) >= error["ctx"]["min_length"])


def _fault(error: Any, shape: type[BaseModel]) -> Fault:
    key: Key = error["loc"]
    kind: str = error["type"]
    if kind == "extra_forbidden":
        return Fault(key, "unknown key", suggest(str(key[-1]), _known_keys(shape, key[:-1])))
    if kind == "missing":
        return Fault(key, "this key is missing", hint=f"Add it: {key[-1]} = …")
    found = f"found {_describe(error['input'])}"
    if kind in {"enum", "literal_error"}:
        known = re.findall(r"'([^']*)'", error["ctx"]["expected"]) or [error["ctx"]["expected"]]
        known = [word for word in known if word not in NEVER_OBSERVED]
        return Fault(key, f"unknown value: {found}", suggest(str(error["input"]), known))
    if kind == "string_pattern_mismatch":
        return Fault(key, f"bad value: {found}", f"wanted a text like {error['ctx']['pattern']}")
    wanted = _WANTED.get(kind)
    return Fault(key, f"wanted {wanted}, {found}" if wanted else f"{error['msg']}, {found}")


def _known_keys(shape: type[BaseModel], key: Key) -> list[str]:
    """Return the keys of the table that a key stands in."""
    for part in key:
        if isinstance(part, int):
            continue
        field = next(item for name, item in shape.model_fields.items() if part in {name, item.alias})
        inner = [field.annotation, *get_args(field.annotation)]
        shape = next(kind for kind in inner if isinstance(kind, type) and issubclass(kind, BaseModel))
    return [field.alias or name for name, field in shape.model_fields.items()]


def _describe(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return f"the string {value!r}"
        case int() | float():
            return f"the number {value}"
        case list() | tuple():
            return f"a list of {len(value)}"
        case dict():
            return "a table"
        case _:
            return str(value)
