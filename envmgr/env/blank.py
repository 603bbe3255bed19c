"""An empty env as it was made before, laid out again: of one interpreter, they differ in the name of their folder."""

from __future__ import annotations

from pathlib import Path

from envmgr.outside import Files

_NAME = "@@the-name-of-the-env@@"
"""Stands in a blank for the name of an env's folder: a digest, so that it means nothing else wherever it stands."""


def lay_out_blank(blank: Path, folder: Path, files: Files) -> bool:
    """Lay out a blank, if there is one, and tell whether there was."""
    known = files.read(blank)
    if known is None:
        return False
    files.lay_out(known.replace(_NAME, folder.name), folder)
    return True


def keep_blank(blank: Path, folder: Path, files: Files) -> None:
    """Keep an empty env for the next of its kind, where it is small texts, folders and links alone."""
    portrait = files.portrait(folder)
    if portrait is not None:
        files.write(blank, portrait.replace(folder.name, _NAME))
