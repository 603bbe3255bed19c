"""The answer of a command that has nothing to do, before anything heavy is imported."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

COMMANDS = frozenset({"build"})
"""The commands whose answer is remembered while nothing that decides it changes."""


def answered(argv: Sequence[str]) -> bool:
    """Print what there is to say and tell so, if this command line is known to have nothing to do."""
    if not argv or argv[0] not in COMMANDS:
        return False
    from envmgr.system.receipts import remembered

    answer = remembered(cache_folder(), argv)
    if answer is None:
        return False
    sys.stdout.write(answer)
    return True


def cache_folder() -> str:
    """Return the folder of envmgr's cache, as `Workplace` has it."""
    named = os.environ.get("ENVMGR_CACHE_DIR")
    if named:
        return os.path.abspath(named)
    system: str = sys.platform
    if system == "linux":
        base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
        return os.path.join(base, "envmgr")
    import platformdirs

    return platformdirs.user_cache_dir("envmgr", appauthor=False)
