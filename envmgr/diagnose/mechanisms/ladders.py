"""Other versions of one distribution: the nearest older ones first, in steps that grow, and newer ones."""

from __future__ import annotations

from collections.abc import Iterator

from packaging.version import Version

from envmgr.diagnose.releases import Release, installable, stable
from envmgr.diagnose.requirement import key_of, version_of
from envmgr.diagnose.situation import Hypothesis, Situation
from envmgr.diagnose.worlds import with_requirement
from envmgr.model.finding import Cause


def below(situation: Situation, owner: str, text: str, why: str) -> Iterator[Hypothesis]:
    """Cap a library below a series, where an earlier one has a wheel."""
    series = version_of(text)
    if series is None:
        return
    older = (release for release in stable(situation.releases(owner)) if release.version < series)
    if any(installable(release, situation.target, sources=False) for release in older):
        cause = Cause(kind="package", name=owner, why=why)
        pinned = owner in {line.key for line in situation.lines}
        yield _moved(situation, f"{owner}<{series}", cause, 0.85, pinned)


def ladder(situation: Situation, owner: str, why: str, weight: float) -> Iterator[Hypothesis]:
    """Propose older series of a distribution, and the next newer ones, the nearest first."""
    there = situation.contents.by_name.get(owner)
    current = version_of(there.version if there else situation.pins.get(owner, ""))
    if current is None:
        return
    releases = [
        release
        for release in stable(situation.releases(owner))
        if installable(release, situation.target, sources=not situation.seen.built)
    ]
    cause = Cause(kind="package", name=owner, why=f"{why} in {owner} {current}")
    pinned = owner in {line.key for line in situation.lines}
    for at, release in enumerate(_rungs([r for r in releases if r.version < current], current)):
        yield _moved(situation, f"{owner}=={release.version}", cause, weight * (0.8 - 0.09 * at), pinned)
    newer = _last_of_series([r for r in releases if r.version > current], 2)
    for at, release in enumerate(newer[:1] + newer[-1:]):
        yield _moved(situation, f"{owner}=={release.version}", cause, weight * (0.5 - 0.1 * at), pinned)


def _rungs(older: list[Release], current: Version) -> list[Release]:
    """Return older releases, the nearest first, in steps that grow: the last of minor series, then of major ones.

    Where there are few series of a kind, the oldest is among them.
    """
    minors = _last_of_series([r for r in older if r.version.major == current.major], 2)
    majors = _last_of_series([r for r in older if r.version.major < current.major], 1)
    return [
        series[-step]
        for series in (minors, majors)
        for step in range(1, min(len(series), 8) + 1)
        if step in {1, 2, 4, 8, len(series)}
    ]


def _last_of_series(releases: list[Release], depth: int) -> list[Release]:
    """Return the last release of each series of versions that share their first numbers."""
    last: dict[tuple[int, ...], Release] = {release.version.release[:depth]: release for release in releases}
    return list(last.values())


def _moved(situation: Situation, line: str, cause: Cause, weight: float, pinned: bool) -> Hypothesis:
    gives_up = f"the version of {key_of(line)} that was asked for" if pinned else ""
    seconds = 6.0 + situation.fetch_seconds(line)
    return Hypothesis("another version", with_requirement(situation.world, line), cause, weight, seconds, gives_up)
