"""What a shell offers after Tab: names of manifests with their variants, of matrices and of runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


def complete_names(incomplete: str) -> list[str]:
    """Return the manifests in view whose names begin like that, after `NAME@` the variants of that one."""
    return _offered(incomplete, _names)


def complete_matrices(incomplete: str) -> list[str]:
    """Return the matrices in view."""
    return _offered(incomplete, lambda workplace, _: workplace.shelf.matrix_names())


def complete_runs(incomplete: str) -> list[str]:
    """Return the stored runs, the newest first."""
    return _offered(incomplete, lambda workplace, _: [*reversed(workplace.store.names()), "latest"])


def _names(workplace: Any, incomplete: str) -> Iterable[str]:
    stem, at, _ = incomplete.partition("@")
    if not at:
        return sorted(workplace.shelf)
    from envmgr.manifest.expand import variants

    return [f"{stem}@{variant}" for variant in variants(workplace.shelf[stem])]


def _offered(incomplete: str, source: Callable[[Any, str], Iterable[str]]) -> list[str]:
    """Return what fits; whatever is amiss is told by the command itself, never by the shell's Tab."""
    from envmgr.app.workplace import Workplace

    try:
        return [each for each in source(Workplace(), incomplete) if each.startswith(incomplete)]
    except Exception:  # noqa: BLE001 - a traceback would be written into the line that is being typed
        return []
