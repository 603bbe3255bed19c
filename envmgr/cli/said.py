"""Prints an answer that was there before."""

from __future__ import annotations

import sys
from contextlib import suppress


def print_answer(answer: str) -> None:
    """Print an answer on stdout; it is no fault when nobody reads it."""
    with suppress(BrokenPipeError):
        sys.stdout.write(answer)
