"""What of the documentation is generated from code: commands, the library, and the tables of manifest and matrix.

    python docs/generate.py        writes docs/manifest.md anew

mkdocs loads this file as a hook and adds the references of commands and of the library to the site.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import typer.main
from pydantic import BaseModel

from envmgr import api
from envmgr.cli.application import application
from envmgr.model.manifest import Manifest, Matrix

PAGE = Path(__file__).with_name("manifest.md")
_WIDTH = 80


def manifest_page() -> str:
    """Return the reference of manifest, matrix and lock."""
    return "\n".join([
        "# The manifest",
        "",
        "One TOML file a version set, `manifests/NAME.toml`. Unknown keys are errors; every error names file, line and key.",
        "",
        *_table(Manifest),
        "",
        "# The matrix",
        "",
        "`manifests/matrices/NAME.toml`: which version sets are measured, how.",
        "",
        *_table(Matrix),
        "",
        "# The lock",
        "",
        "`manifests/locks/NAME/VARIANT-PLATFORM.txt`: every distribution with version and sha256 hashes, no URL, and a head with the",
        "digest of what it was resolved from, so that `envmgr lock --check` finds a stale one without a network. A missing lock is",
        "made at build; a stale one is an error that names the command which renews it.",
        "",
    ])  # fmt: skip


def commands_page() -> str:
    """Return the reference of commands: the help of each."""
    parts = ["# Commands", "", "What `--help` prints.", ""]
    for words, command in _commands(typer.main.get_command(application()), ()):
        name = " ".join(("envmgr", *words))
        context = command.make_context(name, [], resilient_parsing=True)
        parts += [f"## {name}", "", "```text", command.get_help(context), "```", ""]
    return "\n".join(parts)


def python_page() -> str:
    """Return the reference of the library: signatures and what they promise."""
    parts = ["# The library", "", inspect.getdoc(api) or "", ""]
    for name in api.__all__:
        what = getattr(api, name)
        if inspect.isfunction(what):
            parts += [f"## {name}", "", "```python", _signature(name, what), "```", "", inspect.getdoc(what) or "", ""]
            continue
        parts += [f"## {name}", "", inspect.getdoc(what) or "", ""]
        for method, function in inspect.getmembers(what, inspect.isfunction):
            if method in vars(what) and not method.startswith("_"):
                parts += ["```python", _signature(method, function), "```", "", inspect.getdoc(function) or "", ""]
    return "\n".join(parts)


def _signature(name: str, function: Any) -> str:
    """Return a signature as it is written, one parameter a line where it is long."""
    signature = inspect.signature(function)
    parts = []
    for each in signature.parameters.values():
        if each.kind is each.KEYWORD_ONLY and "*" not in parts:
            parts.append("*")
        if each.name != "self":
            default = "" if each.default is each.empty else f" = {each.default!r}"
            parts.append(f"{each.name}: {each.annotation}{default}")
    one = ", ".join(parts)
    listed = one if len(one) <= _WIDTH else "\n" + "".join(f"    {part},\n" for part in parts)
    return f"def {name}({listed}) -> {signature.return_annotation}"


def on_files(files: Any, config: Any) -> Any:
    """Add the generated pages to the site (a hook of mkdocs)."""
    from mkdocs.structure.files import File  # noqa: PLC0415 - only mkdocs calls this

    files.append(File.generated(config, "commands.md", content=commands_page()))
    files.append(File.generated(config, "python.md", content=python_page()))
    return files


def _commands(command: Any, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    if hasattr(command, "commands"):
        for name, inner in command.commands.items():
            yield from _commands(inner, (*words, name))
    elif not command.hidden:
        yield words, command


def _table(shape: type[BaseModel]) -> list[str]:
    return ["| key | value |", "|---|---|", *_rows(shape)]


def _rows(shape: type[BaseModel]) -> Iterator[str]:
    inner: list[tuple[str, type[BaseModel]]] = []
    for name, field in shape.model_fields.items():
        key = field.alias or name
        held = next((kind for kind in (field.annotation, *get_args(field.annotation)) if _is_table(kind)), None)
        if held is not None:
            inner.append((f"[[{key}]]" if field.annotation not in {held, held | None} else f"[{key}]", held))
            key = inner[-1][0]
        elif "dict" in str(field.annotation) and shape is Manifest:
            key = f"[{key}]"
        required = "" if not field.is_required() else " (needed)"
        yield f"| `{key}` | {field.description}{required} |"
    for key, held in inner:
        for name, field in held.model_fields.items():
            required = "" if not field.is_required() else " (needed)"
            yield f"| `{key}` `{field.alias or name}` | {field.description}{required} |"


def _is_table(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


if __name__ == "__main__":
    PAGE.write_text(manifest_page())
