"""`init --from`: manifests made out of the files of other tools."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from envmgr.app.initiating import furnish
from envmgr.errors import ManifestError, UsageError
from envmgr.manifest.adopt import FORMS, adopt
from envmgr.manifest.adopt.draft import Draft
from envmgr.manifest.check import check_manifest
from envmgr.manifest.read import parse_manifest
from envmgr.manifest.write import RUNNERS, write_draft
from envmgr.ports import Files

_GENERAL = frozenset(
    {"requirements", "environment", "pyproject", "pylock", "tox", "noxfile", "asv.conf", "freeze", "setup", "Pipfile",
     "pixi"}
)  # fmt: skip
"""Names of files that tell nothing of the project in them."""


class Adopted(NamedTuple):
    """The files that were written, and what of the source file a manifest cannot say."""

    written: tuple[Path, ...]
    notes: tuple[str, ...]


def adopt_file(folder: Path, source: Path, name: str | None, files: Files, *, wanted: tuple[str, ...] = ()) -> Adopted:
    """Write a manifest for each environment that a file describes, into a project or a new one.

    `name` is that of the manifest; several get it as their first part. `wanted` names extras and groups. Raises
    UsageError when one is there already: nothing is written then.
    """
    text = _text_of(source, files)
    if text is None:
        raise _unreadable(source, files)
    drafts = adopt(source.name, text, FilesBeside(source.parent, files), wanted)
    texts = {
        folder / "manifests" / f"{stem}.toml": write_draft(draft, stem, source.name)
        for stem, draft in zip(_names(drafts, source, name), drafts, strict=True)
    }
    for path, made in texts.items():
        _demand_new(path, files)
        _demand_sound(made, path, source)
    for path, made in texts.items():
        files.write(path, made)
    notes = tuple(dict.fromkeys(note for draft in drafts for note in draft.notes))
    return Adopted((*texts, *furnish(folder, files)), notes)


def _unreadable(source: Path, files: Files) -> UsageError:
    """Return the error of what is no file, with what of a folder could be named instead."""
    address = re.search(r"(?:^|/)([a-z][a-z+]+):/+(?:[^@/]*@)?(.+)", source.as_posix())
    if address:
        what = f"{address[1]}://{address[2]} is an address"
        return UsageError(what, "wanted a file of this machine", "fetch it, and name the file")
    if not files.is_folder(source):
        return UsageError(
            f"{source} cannot be read", "wanted a file; found none", "envmgr init --from requirements.txt"
        )
    named = [path for path in files.list(source) if path.name in FORMS]
    found = ", ".join(path.name for path in named) or "none that is known by its name"
    example = named[0] if named else source / "requirements.txt"
    return UsageError(f"{source} is a folder", f"wanted a file; found in it: {found}", f"envmgr init --from {example}")


class FilesBeside(Mapping[str, str]):
    """The texts of the files beside one, by their path from it, read when they are asked for."""

    def __init__(self, folder: Path, files: Files) -> None:
        self._folder = folder
        self._files = files

    def __getitem__(self, path: str) -> str:
        text = _text_of(self._folder / path, self._files)
        if text is None:
            raise KeyError(path)
        return text

    def __iter__(self) -> Iterator[str]:
        return (path.name for path in self._files.list(self._folder))

    def __len__(self) -> int:
        return len(self._files.list(self._folder))


def _text_of(path: Path, files: Files) -> str | None:
    """Return a file's text without the sign of its encoding; what PowerShell's `>` writes is UTF-16.

    Of such a file what is ASCII is read, and all that a reader looks for is that.
    """
    text = files.read(path)
    if text is not None and text.startswith("\ufffd\ufffd") and "\0" in text:
        return text.removeprefix("\ufffd\ufffd").replace("\0", "")
    return text and text.removeprefix("\ufeff")


def _names(drafts: tuple[Draft, ...], source: Path, name: str | None) -> tuple[str, ...]:
    """Return a name for each draft: the one asked for, or the one that the file or its place gives."""
    if len(drafts) == 1:
        return (_stem(name or drafts[0].name or _of_place(source)),)
    first = name or _of_place(source)
    return tuple(_stem("-".join(part for part in (first, draft.name) if part)) for draft in drafts)


def _of_place(source: Path) -> str:
    return source.resolve().parent.name if source.stem in _GENERAL else source.stem


def _stem(name: str) -> str:
    """Return a text as the name of a manifest.

    >>> _stem("My Project (new)")
    'my-project-new'
    """
    bare = re.sub(r"[^a-z0-9._]+", "-", name.lower()).strip("-._")
    return bare or "adopted"


def _demand_new(path: Path, files: Files) -> None:
    if files.exists(path):
        raise UsageError(f"{path} is there already", "wanted a new manifest", "choose another name with --name NAME")


def _demand_sound(text: str, path: Path, source: Path) -> None:
    try:
        manifest = parse_manifest(text, path.name)
        check_manifest(manifest, text=text, source=path.name, runners=RUNNERS, backends=())
    except ManifestError as error:
        raise UsageError(
            f"{source.name} gives no sound manifest", str(error), "mend it, or write the manifest"
        ) from None
