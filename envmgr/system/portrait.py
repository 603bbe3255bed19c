"""A small folder as text: its folders, links and texts, to be laid out again in a moment."""

from __future__ import annotations

import json
import os
from pathlib import Path

_LARGEST = 200_000
"""Bytes of a file that is still one of a small folder: programs are larger."""


def take_portrait(folder: Path) -> str | None:
    """Return a folder as text; None when something in it is neither a folder, nor a link, nor a small text."""
    folders: list[str] = []
    links: dict[str, str] = {}
    texts: dict[str, str] = {}
    for place, inner, names in os.walk(folder):
        for name in (*inner, *names):
            path = Path(place, name)
            relative = path.relative_to(folder).as_posix()
            if path.is_symlink():
                links[relative] = str(path.readlink())
            elif path.is_dir():
                folders.append(relative)
            elif path.stat().st_size > _LARGEST or (path.stat().st_mode & 0o111):
                return None
            else:
                try:
                    texts[relative] = path.read_bytes().decode()
                except UnicodeDecodeError:
                    return None
    return json.dumps({"folders": sorted(folders), "links": links, "texts": texts})


def lay_out(portrait: str, folder: Path) -> None:
    """Make a folder as its portrait describes it; nothing may be there yet."""
    plan = json.loads(portrait)
    folder.mkdir(parents=True)
    for relative in plan["folders"]:
        folder.joinpath(relative).mkdir(exist_ok=True)
    for relative, text in plan["texts"].items():
        folder.joinpath(relative).write_bytes(text.encode())
    for relative, target in plan["links"].items():
        folder.joinpath(relative).symlink_to(target)
