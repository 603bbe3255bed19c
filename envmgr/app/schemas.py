"""JSON Schema of what people write and of what commands print."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter, create_model

from envmgr.app.outputs import OUTPUTS, Error
from envmgr.backends import names
from envmgr.errors import UsageError
from envmgr.manifest.faults import suggest
from envmgr.model.manifest import Manifest, Matrix

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_NUMBER = {"anyOf": [{"type": "number"}, {"enum": ["nan", "inf", "-inf"]}]}


def schema_of(what: str) -> dict[str, Any]:
    """Return the schema of a file (`manifest`, `matrix`), of one command's output, or of `output`: any command's.

    Raises UsageError for anything else.
    """
    if what == "manifest":
        return manifest_schema()
    if what == "matrix":
        return _document(_file_schema(Matrix), "A matrix of envmgr: which version sets are measured, and how")
    if what == "output":
        return _output_schema(OUTPUTS)
    if what in OUTPUTS:
        return _output_schema({what: OUTPUTS[what]})
    known = ("manifest", "matrix", "output", *OUTPUTS)
    raise UsageError(f"there is no schema of {what!r}", suggest(what, known), "envmgr schema manifest")


def manifest_schema() -> dict[str, Any]:
    """Return the schema of a manifest, with the backends that this envmgr knows."""
    schema = _file_schema(Manifest)
    backend = schema["properties"]["backend"]
    schema["properties"]["backend"] = {
        "description": backend["description"],
        "enum": sorted(names()),
    }
    return _document(schema, "A version set of envmgr")


@cache
def _as_printed(shape: Any) -> Any:
    """Return a type with every named tuple in it as the model that --json prints it as; newer ones may have more."""
    if isinstance(shape, type) and issubclass(shape, tuple) and hasattr(shape, "_fields"):
        defaults: dict[str, Any] = getattr(shape, "_field_defaults", {})
        fields: dict[str, Any] = {
            name: (_as_printed(hint), defaults.get(name, ...)) for name, hint in get_type_hints(shape).items()
        }
        return create_model(shape.__name__, __doc__=shape.__doc__, **fields)
    origin, inner = get_origin(shape), tuple(_as_printed(each) for each in get_args(shape))
    if origin in {Union, UnionType}:
        return Union[inner]  # noqa: UP007 - its members are known only now
    return origin[inner] if origin in {tuple, list, dict} else shape


def _file_schema(shape: type[Manifest | Matrix]) -> dict[str, Any]:
    """Return the schema of a file as it is written: a key that is there has a value, as TOML knows no null."""
    schema: dict[str, Any] = _without_null(shape.model_json_schema(by_alias=True))
    return schema


def _without_null(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_without_null(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {key: _without_null(value) for key, value in schema.items() if key != "default" or value is not None}
    kinds = plain.get("anyOf")
    if kinds and {"type": "null"} in kinds:
        others = [kind for kind in kinds if kind != {"type": "null"}]
        del plain["anyOf"]
        return {**plain, **others[0]} if len(others) == 1 else {**plain, "anyOf": others}
    return plain


def _output_schema(shapes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of the envelope; `data` is null where there is an error."""
    mode: Literal["validation"] = "validation"
    by_command, definitions = TypeAdapter.json_schemas(
        [(command, mode, TypeAdapter(_as_printed(shape))) for command, shape in shapes.items()]
    )
    error = TypeAdapter(_as_printed(Error)).json_schema()
    envelopes = [_envelope(command, by_command[command, mode], error) for command in shapes]
    if len(shapes) > 1:
        envelopes.append(_misused(shapes, error))
    body = envelopes[0] if len(envelopes) == 1 else {"oneOf": envelopes}
    title = "What envmgr prints with --json"
    schema: dict[str, Any] = _finite_or_named({**_document(body, title), "$defs": definitions.get("$defs", {})})
    return schema


def _envelope(command: str, data: Any, error: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            "schema": {"const": 1},
            "command": {"const": command},
            "data": {"anyOf": [data, {"type": "null"}]},
            "error": {"anyOf": [error, {"type": "null"}]},
        },
        "required": ["schema", "command", "data", "error"],
        "additionalProperties": False,
    }


def _misused(shapes: Iterable[str], error: Any) -> dict[str, Any]:
    """Return the schema of the envelope of a line that names no command, or a group of commands alone."""
    groups = sorted({command.partition(" ")[0] for command in shapes if " " in command})
    envelope = _envelope("", {"type": "null"}, error)
    told = {"command": {"enum": ["", *groups]}, "data": {"type": "null"}, "error": error}
    return {**envelope, "properties": {**envelope["properties"], **told}}


def _finite_or_named(schema: Any) -> Any:
    """Say of every number that one which is not finite is printed by its name."""
    if isinstance(schema, list):
        return [_finite_or_named(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {key: _finite_or_named(value) for key, value in schema.items()}
    if plain.get("type") == "number":
        del plain["type"]
        return {**plain, **_NUMBER}
    return plain


def _document(schema: Mapping[str, Any], title: str) -> dict[str, Any]:
    return {"$schema": _DIALECT, **schema, "title": title}
