"""Changes of time: resolve as of the day a pin came out, cap what came later, another Python, a family moved."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta

from packaging.version import Version

from envmgr.diagnose.knowledge import families, last_python_with, python_released
from envmgr.diagnose.releases import Release, installable, of_version, up_to
from envmgr.diagnose.requirement import version_of
from envmgr.diagnose.situation import Hypothesis, Situation
from envmgr.diagnose.worlds import as_one_resolution, asked, with_requirement
from envmgr.model.finding import Cause, World

_SLACK = timedelta(days=30)


def hypotheses(situation: Situation) -> Iterator[Hypothesis]:
    """Propose changes of the date, of what came after it, of the Python, of families."""
    yield from _as_of(situation)
    yield from _caps(situation)
    yield from _pythons(situation)
    yield from _patches(situation)
    yield from _families(situation)
    yield from _kin(situation)


def era_of(situation: Situation) -> str:
    """Return the day on which the youngest pin came out (`2020-07-27`), empty if nothing is pinned or dated."""
    days = [_uploaded(situation, name, version) for name, version in situation.pins.items()]
    return max((day for day in days if day), default="")


def _uploaded(situation: Situation, name: str, version: str) -> str:
    release = of_version(situation.releases(name), version)
    return release.uploaded if release else ""


def later(day: str, by: timedelta = _SLACK) -> str:
    """Return the day some time after another; empty for no day."""
    return day and (date.fromisoformat(day) + by).isoformat()


def _as_of(situation: Situation) -> Iterator[Hypothesis]:
    world, day = situation.world, era_of(situation)
    if not day:
        return
    limit = world.exclude_newer[:10]
    newest = later(day)
    if limit and limit < day and not situation.seen.built:
        why = f"the date limit {limit} is before the day on which what is pinned came out ({day})"
        cause = Cause(kind="index", name="exclude-newer", why=why)
        for value, weight in ((newest, 0.9), ("", 0.6)):
            yield Hypothesis("another date", world.model_copy(update={"exclude_newer": value}), cause, weight, 5.0)
        return
    if not situation.seen.built or (limit and limit <= newest):
        return
    suspects = _newer_than(situation, newest)
    name = suspects[0][0] if suspects else ""
    if not name:
        return
    why = f"{name} came out after what is pinned ({day}), which cannot know it"
    cause = Cause(kind="package", name=name, why=why)
    dated = as_one_resolution(world, asked(world)) if world.steps else world
    weight = 0.6 if any(weight > 0 for _, weight in suspects) else 0.4
    weight *= 0.6 if world.steps else 1.0
    yield Hypothesis(
        "as of the day of the pins", dated.model_copy(update={"exclude_newer": newest}), cause, weight, 7.0
    )


def _newer_than(situation: Situation, day: str) -> list[tuple[str, float]]:
    """Return what is installed though it came out later, the most suspicious first, with a weight from the text."""
    reading = situation.reading
    frames = [situation.contents.owner_of(frame.module) for frame in reading.frames if frame.top]
    found = []
    for name, version in situation.seen.resolved.items():
        if name in situation.pins:
            continue
        uploaded = _uploaded(situation, name, version)
        if not uploaded or uploaded <= day:
            continue
        weight = 0.0
        if name in frames:
            weight = 0.3 + 0.4 * (len(frames) - frames[::-1].index(name)) / len(frames)
        if reading.says(name) or any(module.split(".")[0] == name for module, _ in reading.names):
            weight = max(weight, 0.6) + 0.2
        found.append((name, weight))
    return sorted(found, key=lambda pair: -pair[1])


def _caps(situation: Situation) -> Iterator[Hypothesis]:
    """Propose for each suspect alone the last version that was out on the day of the pins."""
    day = era_of(situation)
    if not day or not situation.seen.built:
        return
    for name, weight in _newer_than(situation, later(day))[:3]:
        if weight <= 0:
            continue
        known = [
            r for r in up_to(situation.releases(name), later(day)) if installable(r, situation.target, sources=True)
        ]
        if not known:
            continue
        line = f"{name}<={known[-1].version}"
        why = f"{name} {situation.seen.resolved[name]} came out after what is pinned ({day})"
        cause = Cause(kind="package", name=name, why=why)
        yield Hypothesis("cap what came later", with_requirement(situation.world, line), cause, weight, 6.0)


def _pythons(situation: Situation) -> Iterator[Hypothesis]:
    """Propose other Pythons, the nearest first, for which everything pinned can be installed."""
    current = Version(situation.minor)
    limit, direct = _python_limit(situation)
    others = [minor for minor in situation.pythons if minor != situation.minor]
    fitting = {minor: _fits(situation, minor) for minor in others}
    here = _fits(situation, situation.minor)
    older = sorted((m for m in others if Version(m) < current and fitting[m]), key=Version, reverse=True)
    newer = sorted((m for m in others if Version(m) > current and fitting[m]), key=Version)
    if limit:
        older = [minor for minor in older if Version(minor) <= Version(limit)] or older
    weight = 0.8 if direct else (0.65 if not here and not situation.seen.built else 0.25)
    day = era_of(situation)
    out_after = bool(day) and python_released(situation.minor) > later(day)
    if out_after and not direct:
        weight += 0.15
    why = _why_python(situation, limit, direct)
    for at, minor in enumerate(older[:3]):
        yield _with_python(situation, minor, why, weight - 0.1 * at)
    unpinned = any(not line.pin for line in situation.lines)
    ends = [*newer[-1:], *newer[:1]] if here else [*newer[:1], *newer[-1:]]  # pins fit the nearest at least
    for at, minor in enumerate(ends[: len(newer)]):
        yield _with_python(situation, minor, why, (0.65 if not here else 0.35 if unpinned else 0.12) - 0.05 * at)


def _patches(situation: Situation) -> Iterator[Hypothesis]:
    """Propose another patch of the same Python, where one is here."""
    same = [patch for patch in situation.host.patches if patch.rpartition(".")[0] == situation.minor]
    for patch in sorted((patch for patch in same if patch != situation.world.python), key=Version)[:2]:
        why = f"it fails on the Python {situation.world.python} that is used here"
        yield replace(_with_python(situation, patch, why, 0.1), mechanism="another patch")


def _why_python(situation: Situation, limit: str, direct: bool) -> str:
    if limit and direct:
        return f"Python {limit} was the last to have what is looked for: {situation.reading.message}"
    return f"what is pinned is not made for Python {situation.minor}"


def _python_limit(situation: Situation) -> tuple[str, bool]:
    """Return the last Python that had what the text misses, and whether the text says so directly."""
    reading = situation.reading
    for module, name in reversed(reading.names):
        found = last_python_with(module, name)
        if found and Version(found) < Version(situation.minor):
            return found, True
    for module in reversed(reading.modules):
        found = last_python_with(module)
        if found and Version(found) < Version(situation.minor):
            return found, not found.startswith("2")
    return "", False


def _fits(situation: Situation, minor: str) -> bool:
    """Tell whether each pin has a wheel, or nothing but sources, for a Python."""
    target = replace(situation.target, python=minor)
    for line in situation.lines:
        if not line.pin:
            continue
        release = of_version(situation.releases(line.name), line.pin)
        if release is None:
            continue
        wheels = any(artefact.wheel for artefact in release.artefacts)
        if not installable(release, target, sources=not wheels):
            return False
    return True


def _with_python(situation: Situation, minor: str, why: str, weight: float) -> Hypothesis:
    world = situation.world.model_copy(update={"python": minor})
    cause = Cause(kind="python", name=situation.minor, why=why)
    elsewhere = replace(situation, world=world)
    seconds = 6.0 + sum(elsewhere.fetch_seconds(line.text(), fresh=True) for line in situation.lines)
    return Hypothesis("another Python", world, cause, weight, seconds, f"Python {situation.minor}")


def _families(situation: Situation) -> Iterator[Hypothesis]:
    """Propose one version, or one day, for distributions that are released together."""
    there = set(situation.seen.resolved) | set(situation.pins)
    for how, members, why in families():
        present = sorted(members & there)
        for anchor in (name for name in present if name in situation.pins):
            for other in (name for name in present if name != anchor):
                line = _beside(situation, how, anchor, other)
                installed = situation.pins.get(other) or situation.seen.resolved.get(other, "")
                if not line or line.endswith(f"=={installed}"):
                    continue
                said = f"{other} {installed} beside {anchor} {situation.pins[anchor]}: {why}"
                cause = Cause(kind="package", name=other, why=said)
                weight = 0.75 if how == "same_version" else (0.5 if situation.reading.says(other) else 0.3)
                gives_up = f"{other} {situation.pins[other]}" if other in situation.pins else ""
                weight -= 0.1 if gives_up and how == "same_day" else 0.0
                yield Hypothesis("move a family together", _single(situation.world, line), cause, weight, 6.0, gives_up)


def _kin(situation: Situation) -> Iterator[Hypothesis]:
    """Propose one version for two that share the first word of their names, and whose versions go together."""
    there = {**situation.seen.resolved, **situation.pins}
    known = frozenset[str]().union(*(members for _, members, _ in families()))
    for anchor, pin in situation.pins.items():
        for other in sorted(there):
            kin = other != anchor and other.split("-")[0] == anchor.split("-")[0]
            if not kin or there[other] == pin or {anchor, other} <= known:
                continue
            release = of_version(situation.releases(other), pin)
            if release is None:
                continue
            why = f"{other} {there[other]} lies beside {anchor} {pin}, and both have a release {pin}"
            told = situation.reading.says(pin) or situation.reading.says(there[other])
            gives_up = f"{other} {situation.pins[other]}" if other in situation.pins else ""
            cause = Cause(kind="package", name=other, why=why)
            world = with_requirement(situation.world, f"{other}=={release.version}")
            yield Hypothesis("move kin together", world, cause, 0.7 if told else 0.45, 6.0, gives_up)


def _single(world: World, line: str) -> World:
    return with_requirement(world, line)


def _beside(situation: Situation, how: str, anchor: str, other: str) -> str:
    """Return the requirement for one member that fits another's pin."""
    pin = situation.pins[anchor]
    if how == "same_version":
        release = of_version(situation.releases(other), pin)
        return f"{other}=={release.version}" if release else ""
    day = _uploaded(situation, anchor, pin)
    known = list(up_to(situation.releases(other), later(day))) if day else []
    wanted = version_of(pin)
    series = [r for r in known if wanted is not None and r.version.release[:2] == wanted.release[:2]]
    chosen = _latest_here(situation, series) or _latest_here(situation, known)
    return f"{other}=={chosen.version}" if chosen else ""


def _latest_here(situation: Situation, releases: list[Release]) -> Release | None:
    usable = [release for release in releases if installable(release, situation.target, sources=False)]
    return usable[-1] if usable else None
