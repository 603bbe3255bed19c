"""Changes of extras: ask for the one that brings what is missing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from packaging.utils import canonicalize_name

from envmgr.diagnose.contents import Distribution
from envmgr.diagnose.knowledge import distributions_for
from envmgr.diagnose.requirement import read_line
from envmgr.diagnose.situation import Hypothesis, Situation
from envmgr.diagnose.worlds import asked, replaced, with_requirement
from envmgr.model.finding import Cause

_WITHOUT_TEXT = 3
_MANY, _OF_AN_UMBRELLA = 5, 0.6
"""An extra that brings more than so many is hardly the smallest change, where one that brings less would do."""


def hypotheses(situation: Situation) -> Iterator[Hypothesis]:
    """Propose each extra that would bring what is not there and that the failure speaks of."""
    if not situation.seen.built:
        return
    unread = _WITHOUT_TEXT if not situation.seen.text else 0
    for distribution in _suspects(situation):
        for extra, needs in lacking(distribution, situation):
            weight = _weight(situation, distribution, extra, needs)
            if weight <= 0 and unread <= 0:
                continue
            unread -= weight <= 0
            need = _named(situation, needs)
            why = f"{distribution.name} requires {need} for its extra {extra}, which nobody asked for"
            cause = Cause(kind="missing", name=need, why=why)
            weight *= _OF_AN_UMBRELLA if len(needs) > _MANY else 1.0
            seconds = 5.0 + sum(situation.fetch_seconds(need) for need in needs)
            yield _asking(situation, distribution, extra, cause, max(weight, 0.15), seconds)


def _named(situation: Situation, needs: tuple[str, ...]) -> str:
    """Return the one of several needs that the failure speaks of, else the first."""
    missing = situation.reading.missing.split(".")[0]
    wanted = {canonicalize_name(missing), *distributions_for(missing)} if missing else set()
    told = [need for need in needs if need in wanted] or [need for need in needs if situation.reading.says(need)]
    return (told or list(needs))[0]


def _suspects(situation: Situation) -> list[Distribution]:
    """Return the distributions asked for and those in whose code it broke."""
    contents = situation.contents
    mistyped = {line.key for line in situation.lines if set(line.extras) - _extras_of(situation, line.key)}
    names = [line.key for line in situation.lines]
    names += [contents.owner_of(frame.module) for frame in reversed(situation.reading.frames) if frame.top]
    return [
        contents.by_name[name] for name in dict.fromkeys(names) if name in contents.by_name and name not in mistyped
    ]


def _extras_of(situation: Situation, name: str) -> set[str]:
    there = situation.contents.by_name.get(name)
    return set(there.extras) if there else set()


def lacking(distribution: Distribution, situation: Situation) -> list[tuple[str, tuple[str, ...]]]:
    """Return the extras of a distribution that would bring something which is not installed, and what."""
    found: dict[str, list[str]] = {}
    for name, marker in distribution.conditional():
        if name in situation.contents.by_name or marker.evaluate({**situation.markers, "extra": ""}):
            continue
        for extra in distribution.extras:
            if marker.evaluate({**situation.markers, "extra": extra}):
                found.setdefault(extra, []).append(name)
    return [(extra, tuple(needs)) for extra, needs in found.items()]


def _weight(situation: Situation, distribution: Distribution, extra: str, needs: tuple[str, ...]) -> float:
    reading = situation.reading
    named = re.search(
        rf"{re.escape(distribution.name)}\[[^\]\n]*\b{re.escape(extra)}\b", reading.text.replace("_", "-")
    )
    if named:
        return 0.9
    missing = reading.missing.split(".")[0]
    if missing and not situation.contents.has(missing):
        wanted = {canonicalize_name(missing), *distributions_for(missing)}
        return (
            0.85 if wanted & set(needs) else (0.6 if any(canonicalize_name(missing) in need for need in needs) else 0.0)
        )
    said = any(reading.says(word) for word in (*needs, extra) if len(word) > 3)
    return 0.45 if said else 0.0


def _asking(
    situation: Situation, distribution: Distribution, extra: str, cause: Cause, weight: float, seconds: float
) -> Hypothesis:
    """Return the world in which an extra is asked for, in the line of its distribution if there is one."""
    world = with_requirement(situation.world, f"{distribution.name}[{extra}]")
    for text in asked(situation.world):
        line = read_line(text)
        if line is not None and line.key == distribution.name:
            world = replaced(situation.world, text, replace(line, extras=(*line.extras, extra)).text())
            break
    return Hypothesis("ask for an extra", world, cause, weight, seconds)
