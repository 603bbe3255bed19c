"""Causes as people read them."""

from __future__ import annotations

from envmgr.model.finding import Cause


def told(cause: Cause) -> str:
    """Return a cause on a line: what is to blame, if that is known, and why."""
    return f"{accused(cause)}: {cause.why}"


def accused(cause: Cause) -> str:
    """Return what is to blame, in a word or two."""
    return f"{cause.kind} {cause.name}".strip()
