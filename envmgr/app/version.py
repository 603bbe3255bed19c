from __future__ import annotations

from importlib.metadata import version as version_of


def version() -> str:
    """Return the version of this envmgr."""
    return version_of("envmgr")
