"""Days as a user writes them."""

from __future__ import annotations

from datetime import date

from envmgr.errors import UsageError


def day_of(text: str) -> date:
    """Return the day that a text names; raises UsageError."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{text} is no day", "wanted YYYY-MM-DD", "--good 2026-01-31") from None
