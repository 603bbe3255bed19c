"""How the output stream wants things to look."""

from __future__ import annotations

import os
import sys
from typing import TextIO

from envmgr.report.look import Look, look_for
from envmgr.system.caller import terminal_width


def look(*, wide: bool = False, stream: TextIO | None = None) -> Look:
    """Return how the output stream wants things to look."""
    stream = stream or sys.stdout
    return look_for(
        os.environ,
        terminal=stream.isatty(),
        encoding=stream.encoding or "ascii",
        columns=terminal_width(120),
        wide=wide,
    )
