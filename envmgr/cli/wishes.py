"""What was asked for besides the command itself; set once, before the command runs."""

from __future__ import annotations

TIMINGS = False
"""Whether the command is to account for its time."""

QUIET = False
"""Whether nothing is to be told on the way: answers and errors alone."""
