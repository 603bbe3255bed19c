"""Reads from the disk what an environment holds, without starting its interpreter."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from email.parser import HeaderParser
from pathlib import Path, PurePosixPath

from packaging.utils import canonicalize_name

from envmgr.diagnose.contents import Contents, Distribution
from envmgr.ports import Files


def read_contents(files: Files, site: Iterable[Path]) -> Contents:
    """Return the distributions among what lies in site-packages, with what each asks for, offers and owns."""
    found = []
    for folder in site:
        if folder.name.endswith((".dist-info", ".egg-info")):
            distribution = _distribution(files, folder)
            if distribution is not None:
                found.append(distribution)
    return Contents(tuple(found))


def _distribution(files: Files, folder: Path) -> Distribution | None:
    place = folder if files.is_folder(folder) else folder.parent
    text = files.read(folder / "METADATA") or files.read(folder / "PKG-INFO") or files.read(folder)
    if text is None:
        return None
    headers = HeaderParser().parsestr(text)
    name = headers.get("Name")
    if not name:
        return None
    record = (files.read(place / "RECORD") or "") if place == folder else ""
    importable = _files(record)
    return Distribution(
        name=canonicalize_name(str(name)),
        version=str(headers.get("Version") or ""),
        requires=tuple(str(line) for line in headers.get_all("Requires-Dist") or ()),
        extras=tuple(str(line) for line in headers.get_all("Provides-Extra") or ()),
        modules=_modules(record),
        files=importable,
        lost=tuple(
            path for path in sorted(importable) if path.count("/") <= 1 and not files.exists(folder.parent / path)
        ),
    )


def _paths(record: str) -> tuple[PurePosixPath, ...]:
    rows = (_row(line) for line in record.splitlines())
    return tuple(PurePosixPath(row[0]) for row in rows if row and row[0].strip("./") and not row[0].startswith(".."))


def _row(line: str) -> list[str]:
    """Return the fields of one line of a RECORD; none of a line that is damaged."""
    try:
        return next(csv.reader([line]), [])
    except csv.Error:
        return []


def _modules(record: str) -> frozenset[str]:
    """Top-level names, and dotted names one level below, that can be imported from recorded files."""
    found: set[str] = set()
    for path in _paths(record):
        if path.suffix not in {".py", ".so", ".pyd"} or path.parts[0].endswith((".dist-info", ".data")):
            continue
        stem = path.name.split(".")[0]
        dotted = [*path.parts[:-1], *([] if stem == "__init__" else [stem])]
        found.update(".".join(dotted[:depth]) for depth in range(1, min(len(dotted), 3) + 1))
    return frozenset(found)


def _files(record: str) -> frozenset[str]:
    return frozenset(
        str(path) for path in _paths(record) if path.suffix in {".py", ".so", ".pyd"} and ".dist-info" not in str(path)
    )
