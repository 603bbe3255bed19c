"""Lists of causes."""

from __future__ import annotations

from collections.abc import Iterable

from envmgr.model.finding import Cause


def distinct(causes: Iterable[Cause]) -> tuple[Cause, ...]:
    """Return the causes in order, of several with one kind and name the first."""
    found: dict[tuple[str, str], Cause] = {}
    for cause in causes:
        found.setdefault((cause.kind, cause.name), cause)
    return tuple(found.values())
