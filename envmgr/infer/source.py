"""A script's Python code: a plain file, or a notebook's cells without what only IPython reads."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

_MAGIC = re.compile(r"^\s*(?:[%!?]|[\w.]+\?{1,2}\s*$)")
_ASSIGNED_MAGIC = re.compile(r"^(?P<indent>\s*)(?P<names>[\w, ]+)=\s*[%!].*$")
_INSTALLS = re.compile(r"^\s*[%!]\s*(?:pip|pip3|python -m pip)\s+install\s+(?P<rest>.*)$")

_GARBLED = 20
"""One character of so many that cannot be decoded makes a file no text."""


@dataclass(frozen=True, slots=True)
class Source:
    """A script: its name, its code, and what a notebook says of its kernel (a minor Python, or `2`).

    `installs` are the words of `pip install` lines in it, `language` is what a notebook is written in if that is not
    Python, and `garbled` tells that there is more in the file than text.
    """

    name: str
    code: str
    kernel: str = ""
    installs: tuple[str, ...] = ()
    language: str = ""
    garbled: bool = False


def read_source(name: str, text: str) -> Source:
    """Return a script's code; a notebook that is none is taken for code, and never raises."""
    text = text.removeprefix("\ufeff")
    if name.endswith(".ipynb"):
        try:
            notebook = json.loads(text)
        except (ValueError, RecursionError):
            notebook = None
        if isinstance(notebook, dict):
            return _of_notebook(name, notebook)
    garbled = "\x00" in text or text.count("\ufffd") * _GARBLED > len(text)
    return Source(name, text.replace("\x00", ""), garbled=garbled)


def _of_notebook(name: str, notebook: dict[str, Any]) -> Source:
    cells = notebook.get("cells")
    if not isinstance(cells, list):  # nbformat 3 keeps them in work sheets
        sheets = notebook.get("worksheets")
        cells = [cell for sheet in _dicts(sheets) for cell in _dicts(sheet.get("cells"))]
    lines: list[str] = []
    installs: list[str] = []
    for cell in _dicts(cells):
        if cell.get("cell_type") != "code":
            continue
        for line in _cell_lines(cell):
            match = _INSTALLS.match(line)
            installs += match["rest"].split() if match else []
            lines.append(_without_magic(line))
    return Source(name, "\n".join(lines) + "\n", _kernel(notebook), tuple(installs), _other_language(notebook))


def _cell_lines(cell: dict[str, Any]) -> list[str]:
    source = cell.get("source", cell.get("input", ""))
    text = "".join(str(part) for part in source) if isinstance(source, list) else str(source)
    text = text.replace("\x00", "")
    first = text.lstrip().partition("\n")[0]
    if first.startswith("%%") and not re.match(r"%%(?:time|timeit|capture|prun)\b", first):
        return []  # a cell in another language
    return text.split("\n")


def _without_magic(line: str) -> str:
    assigned = _ASSIGNED_MAGIC.match(line)
    if assigned:
        return f"{assigned['indent']}{assigned['names'].strip()} = None"
    if _MAGIC.match(line):
        return line[: len(line) - len(line.lstrip())] + "pass"
    return line


def _other_language(notebook: dict[str, Any]) -> str:
    """Return the language of a notebook's kernel, empty when it is Python or not told."""
    metadata = notebook.get("metadata")
    for part, key in (("language_info", "name"), ("kernelspec", "language")):
        told = metadata.get(part) if isinstance(metadata, dict) else None
        name = str(told.get(key) or "") if isinstance(told, dict) else ""
        if name:
            return "" if "python" in name.lower() else name[:40]
    return ""


def _kernel(notebook: dict[str, Any]) -> str:
    metadata = notebook.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    language = metadata.get("language_info")
    version = str(language.get("version", "")) if isinstance(language, dict) else ""
    match = re.match(r"(\d+)\.(\d+)", version)
    if match:
        return "2" if match[1] == "2" else f"{match[1]}.{match[2]}"
    kernel = metadata.get("kernelspec")
    name = str(kernel.get("name", "")) if isinstance(kernel, dict) else ""
    return "2" if name.startswith("python2") else ""


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
