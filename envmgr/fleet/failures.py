"""Exceptions of jobs, kept until the other jobs are done."""

from __future__ import annotations


class Failures:
    """Collects exceptions and surfaces them together."""

    def __init__(self) -> None:
        self._errors: list[Exception] = []

    def add(self, error: Exception) -> None:
        """Keep an exception for later."""
        self._errors.append(error)

    def surface(self) -> None:
        """Raise the first exception that was kept, the others told in its notes; do nothing when there is none."""
        if not self._errors:
            return
        first, *others = self._errors
        for other in others:
            first.add_note(f"another job failed as well: {type(other).__name__}: {other}")
        raise first
