"""Distributions that move together: which of them are asked for, and which release of one fits a release of another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, timedelta

from envmgr.diagnose.knowledge import families
from envmgr.diagnose.releases import Release, Target, installable, of_version, up_to

_SLACK = timedelta(days=30)


def companions(name: str, asked: Iterable[str]) -> dict[str, str]:
    """Return those asked for that move with one distribution, and how: `same_version` or `same_day`.

    >>> companions("plaidml", ["keras", "plaidml-keras"])
    {'plaidml-keras': 'same_version'}
    """
    there = tuple(asked)
    return {
        other: how
        for how, members, _ in families()
        if name in members
        for other in there
        if other in members and other != name
    }


def beside(how: str, release: Release, others: Sequence[Release], target: Target) -> Release | None:
    """Return the release of a companion that belongs to a release: the same version, or the newest of its days."""
    if how == "same_version":
        return of_version(others, str(release.version))
    if not release.uploaded:
        return None
    known = up_to(others, (date.fromisoformat(release.uploaded) + _SLACK).isoformat())
    usable = [other for other in known if installable(other, target, sources=False)]
    series = [other for other in usable if other.version.release[:2] == release.version.release[:2]]
    return (series or usable)[-1] if usable else None
