"""A build that went well, as it can be made again: nothing is decided anew, everything is checked anew.

Who uses a recipe answers for it that whatever was decided would be decided the same way today. What is looked at in any
build is looked at in this one, too: uv checks hashes, linked files are what their wheels say, and the env's own
interpreter has to tell of it word for word what it told of the first. Where anything is otherwise, the build is left
unfinished, to be made from the beginning.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from envmgr.env.accepted import MARKER, lock_of, record_of, remember
from envmgr.env.beside import Beside
from envmgr.env.blank import lay_out_blank
from envmgr.env.downloads import warn_of_size
from envmgr.env.inside import ask_inside
from envmgr.env.installer import Ports, run_installer
from envmgr.env.linked import is_linked, look_at_links
from envmgr.env.passing import passed_on
from envmgr.outside import Event

SCRATCH = "@@scratch@@"
"""Stands in the arguments of a recipe for the folder of the files that uv reads."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """What one build was made of, as plain data.

    `manifest` is whose progress it is, `label` names its variant, too; `version` is that of its Python, `told` what
    progress says of the `count` distributions. `files` are what uv reads, by name in scratch. `variables` are what uv
    gets besides the caller's. `sharing` is what the file system offered, `link` whether files are names of uv's.
    `needed` bytes have to be free. `report` is what the env's interpreter told, `mark` the record of the env.
    """

    folder: str
    python: str
    blank: str
    manifest: str
    label: str
    version: str
    told: str
    count: int
    arguments: tuple[str, ...]
    files: dict[str, str]
    variables: dict[str, str]
    uv_cache: str
    sharing: tuple[str, str]
    link: bool
    needed: int
    report: dict[str, Any]
    mark: dict[str, Any]


def repeat(recipe: Recipe, caller: Mapping[str, str], ports: Ports) -> float | None:
    """Build what a recipe says and return the seconds; None when it cannot be built in this way, or is there already.

    `caller` are the variables that envmgr was started with.
    """
    files, folder = ports.files, Path(recipe.folder)
    if files.ways_to_share(Path(recipe.uv_cache), folder.parent) != recipe.sharing:
        return None
    with files.lock(lock_of(folder)):
        files.claim(folder)
        if files.exists(folder / MARKER):
            return None
        warn_of_size(recipe.needed, recipe.label, ports.listener)
        begun = ports.clock.monotonic()
        found = _looked_at(recipe, ports) if _filled(recipe, caller, ports) else None
        if found is None:
            return None
        seconds = round(ports.clock.monotonic() - begun, 3)
        mark = {**recipe.mark, "built_at": ports.clock.now().isoformat(timespec="seconds"), "seconds": seconds}
        files.write(folder / MARKER, json.dumps(mark, indent=2, ensure_ascii=False))
        if found:
            found[MARKER] = files.facts(folder / MARKER)
            remember(files, folder, found, durable=False)
        ports.listener.on_event(Event("built", recipe.manifest, folder.name))
        return seconds


def _filled(recipe: Recipe, caller: Mapping[str, str], ports: Ports) -> bool:
    """Make the env and fill it, and tell whether that came about."""
    files, folder = ports.files, Path(recipe.folder)
    files.remove(record_of(folder))
    files.remove(folder)
    ports.listener.on_event(Event("create", recipe.manifest, f"Python {recipe.version}"))
    if not lay_out_blank(Path(recipe.blank), folder, files):
        return False
    if recipe.needed and files.free_space(folder.parent) < recipe.needed:
        return False
    with files.scratch("install") as scratch:
        for name, text in recipe.files.items():
            files.write(scratch / name, text, durable=False)
        what = Event("install", recipe.manifest, recipe.told, 0, recipe.count)
        argv = tuple(word.replace(SCRATCH, str(scratch)) for word in recipe.arguments)
        completed, _ = run_installer(argv, passed_on(caller) | recipe.variables, folder, what, ports)
    return completed.good


def _looked_at(recipe: Recipe, ports: Ports) -> dict[str, str] | None:
    """Return what is in the env where its files are links; None where it is not what it was when it was recorded.

    Its interpreter tells of it while its files are looked at: where they are links, it can change none of them.
    """
    ports.listener.on_event(Event("inspect", recipe.manifest))
    asked = Beside(lambda: ask_inside(Path(recipe.python), ports.process, ports.files)[0])
    try:
        found, damaged = look_at_links(Path(recipe.folder), ports.files) if recipe.link else ({}, ())
    except Exception:
        asked.wait()
        raise
    report = asked.outcome()
    if damaged or (recipe.link and not any(map(is_linked, found.values()))):
        return None
    return found if report is not None and json.loads(report) == recipe.report else None
