"""What was asked for besides the command itself; set once, before the command runs."""

from __future__ import annotations

TIMINGS = False
"""Whether the command is to account for its time."""

LINE: tuple[str, ...] = ()
"""The command line without what is asked for besides."""

QUIET = False
"""Whether nothing is to be told on the way: answers and errors alone."""

REMEMBERED = frozenset({"build"})
"""The commands whose answer is remembered while nothing that decides it changes."""
