"""The disk, with a memory of what was looked at."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from envmgr.system.caller import Caller
from envmgr.system.files import RealFiles
from envmgr.system.receipts import content_of, deciding, maker, receipt_path, recipe_path, state_of

_OF_THE_KERNEL = (Path("/proc"), Path("/sys"))


@dataclass(frozen=True, slots=True)
class Again:
    """How a command can do again what it did: a recipe as plain data, and what the command prints then.

    `tools` are what takes part in it, `made` the files and folders that came of it.
    """

    recipe: Mapping[str, object]
    answer: str
    tools: tuple[Path, ...]
    made: tuple[Path, ...]


class WitnessFiles(RealFiles):
    """Remembers of every file and folder that is asked for in which state it was when that was first asked."""

    def __init__(self, scratch_folder: Path) -> None:
        super().__init__(scratch_folder)
        self._states: dict[str, list[int] | None] = {}
        self._contents: dict[str, str | None] = {}

    def read(self, path: Path) -> str | None:
        """Return the text of a file, and remember what it held."""
        if str(path) not in self._contents and not self._is_passing(path):
            self._contents[str(path)] = content_of(str(path))
        return super().read(path)

    def exists(self, path: Path) -> bool:
        """Tell whether something is there, and remember it."""
        self._note(path)
        return super().exists(path)

    def is_folder(self, path: Path) -> bool:
        """Tell whether the path is a folder, and remember it."""
        self._note(path)
        return super().is_folder(path)

    def list(self, folder: Path) -> tuple[Path, ...]:
        """Return what a folder holds, and remember its state."""
        self._note(folder)
        return super().list(folder)

    def names(self, folder: Path) -> tuple[str, ...]:
        """Return the names of what a folder holds, and remember its state."""
        self._note(folder)
        return super().names(folder)

    def identity(self, path: Path) -> str:
        """Return a digest of a file's state, and remember it."""
        self._note(path)
        return super().identity(path)

    def keep_receipt(self, cache: Path, command: tuple[str, ...], caller: Caller, answer: str) -> None:
        """Keep what the command has to print as long as all that was looked at stays as it is.

        Nothing is kept when something of it has changed meanwhile: the answer might be of what is no more.
        """
        self._keep(Path(receipt_path(str(cache), command)), caller, {"answer": answer}, ())

    def keep_recipe(self, cache: Path, command: tuple[str, ...], caller: Caller, again: Again) -> None:
        """Keep how the command can do again what it did, as long as all that was looked at stays as it is.

        What it made does not count: without it there is something to do.
        """
        for path in again.tools:
            self._note(path)
        made = {"answer": again.answer, "recipe": dict(again.recipe)}
        self._keep(Path(recipe_path(str(cache), command)), caller, made, again.made)

    def _keep(self, place: Path, caller: Caller, kept: Mapping[str, object], made: tuple[Path, ...]) -> None:
        states = {path: state for path, state in self._states.items() if not _is_of(path, made)}
        contents = {path: content for path, content in self._contents.items() if not _is_of(path, made)}
        now = {path: state_of(path) for path in states}
        if now != states or {path: content_of(path) for path in contents} != contents:
            return
        decided = {"maker": maker(), "variables": deciding(caller.environment), "states": states, "contents": contents}
        with suppress(OSError):  # where nothing can be written, the next one looks again
            super().write(place, json.dumps({**decided, **kept}))

    def _note(self, path: Path) -> None:
        if str(path) not in self._states and not self._is_passing(path):
            self._states[str(path)] = state_of(str(path))

    def _is_passing(self, path: Path) -> bool:
        """Tell what is another thing at every call and decides nothing: scratch, and what the kernel tells."""
        return _is_of(str(path), (self._scratch_folder, *_OF_THE_KERNEL))


def _is_of(path: str, places: tuple[Path, ...]) -> bool:
    return any(path == str(place) or path.startswith(f"{place}{os.sep}") for place in places)
