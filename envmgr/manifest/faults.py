"""What is amiss in a file, gathered first and told all at once."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from envmgr.errors import ManifestError
from envmgr.manifest.positions import Key, place, positions


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is amiss at one key: what, wanted and found, and what to do."""

    key: Key
    what: str
    why: str = ""
    hint: str = ""


def spell(key: Key) -> str:
    """Return a key as a person would name it.

    >>> spell(("index", 0, "url"))
    'index[0].url'
    """
    spelt = ""
    for part in key:
        spelt += f"[{part}]" if isinstance(part, int) else f".{part}"
    return spelt.removeprefix(".")


def suggest(wrong: str, known: Iterable[str]) -> str:
    """Return `did you mean 'x'?` for the known word nearest to a wrong one, or which words are known."""
    words = sorted(known)
    near = difflib.get_close_matches(wrong, words, n=1, cutoff=0.6)
    if near:
        return f"did you mean '{near[0]}'?"
    return f"known: {', '.join(words)}" if words else "none are known"


def manifest_error(source: str, text: str, faults: Sequence[Fault]) -> ManifestError:
    """Return one error that tells every fault with file, line and column."""
    found = positions(text)
    lines = []
    for fault in sorted(faults, key=lambda fault: place(found, fault.key)):
        line, column = place(found, fault.key)
        name = f"{spell(fault.key)}: " if fault.key else ""
        lines.append((f"{source}:{line}:{column}: {name}{fault.what}", fault.why, fault.hint))
    if len(lines) == 1:
        return ManifestError(*lines[0])
    why = "\n".join("; ".join(part for part in line if part) for line in lines)
    return ManifestError(f"{source}: {len(lines)} faults", why, "Correct each of them.")
