"""The answer of a command that has nothing to do, or does again what it did, before anything heavy is imported."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

from envmgr.cli.said import print_answer
from envmgr.cli.wishes import REMEMBERED


def answered(argv: Sequence[str]) -> bool:
    """Print what there is to say and tell so, if this command line is known to have nothing to do."""
    if not argv or argv[0] not in REMEMBERED:
        return False
    from envmgr.system.receipts import remembered

    answer = remembered(cache_folder(), argv)
    if answer is None:
        return False
    print_answer(answer)
    return True


def repeated(argv: Sequence[str], *, quiet: bool) -> int | None:
    """Do again what this command line did and return its exit code; None where that is not to be had so quickly."""
    if not argv or argv[0] not in REMEMBERED:
        return None
    from envmgr.system.receipts import forget, recalled

    cache = cache_folder()
    known = recalled(cache, argv)
    if known is None or _is_built(known[0]):
        return None
    from envmgr.cli.repeat import repeat

    code = repeat(*known, cache, argv, quiet=quiet)
    if code is None and not _is_built(known[0]):
        forget(cache, argv)
    return code


def _is_built(recipe: Mapping[str, object]) -> bool:
    from envmgr.env.accepted import MARKER

    return os.path.lexists(os.path.join(str(recipe.get("folder")), MARKER))


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
