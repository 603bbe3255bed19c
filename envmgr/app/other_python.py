"""Whether a program that an env lacks, and PATH has, is run by another Python, which sees nothing of the env."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePath

_PYTHON = re.compile(rb"(?:python|pypy)[\d.]*w?(?:\.exe)?", re.IGNORECASE)
_SCRIPT = re.compile(rb"#!\s*(?:\S*/env\s+(?:-S\s+)?)?(?P<plain>\S+)")
_LONG_PATH = re.compile(rb"#!/bin/sh\n'''exec' (?:\"(?P<quoted>[^\"\n]+)\"|(?P<plain>\S+)) ")
"""How installers write what is too long, or has a space, for a first line."""
_SHIM = re.compile(rb"#!\S*[ /](?:ba)?sh\b.*\bexec \S*pyenv\"? exec ", re.DOTALL)


def other_python(program: PurePath, head: bytes, own: PurePath) -> str | None:
    """Return which Python other than the env's is, or runs, a program; None if none is seen to.

    `head` is what its file begins with, `own` the folder of the env's programs. Who only asks for `python3` on PATH
    gets that of the env.

    >>> other_python(PurePath("/usr/bin/pytest"), b"#!/usr/bin/python3", PurePath("/env/bin"))
    '/usr/bin/python3'
    >>> other_python(PurePath("/usr/bin/ls"), b"ELF", PurePath("/env/bin")) is None
    True
    """
    if program.parent == own:
        return None
    if _PYTHON.fullmatch(program.name.encode()):
        return str(program)
    if _SHIM.match(head):
        return "the one that pyenv chooses"
    if program.suffix.lower() == ".exe" and program.parent.name.lower() == "scripts":
        return f"that of {program.parent.parent}"
    found = _LONG_PATH.match(head) or _SCRIPT.match(head)
    interpreter = PurePath(_first(found.groupdict()).decode(errors="replace") if found else "")
    if interpreter.parent in {PurePath(), own} or not _PYTHON.fullmatch(interpreter.name.encode()):
        return None
    return str(interpreter)


def _first(groups: Mapping[str, bytes | None]) -> bytes:
    return next((text for text in groups.values() if text), b"")
