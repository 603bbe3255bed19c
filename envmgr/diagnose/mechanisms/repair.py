"""Repairs of the requirement itself: extra, marker, local label, dead address, absent version, wrong name."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import replace

from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

from envmgr.diagnose.knowledge import distributions_for, in_standard_library, rivals
from envmgr.diagnose.releases import Release, installable, of_version, stable
from envmgr.diagnose.requirement import Line, read_line, version_of
from envmgr.diagnose.situation import Hypothesis, Situation
from envmgr.diagnose.worlds import asked, replaced, without_requirement
from envmgr.model.finding import Cause


def hypotheses(situation: Situation) -> Iterator[Hypothesis]:
    """Audit each requirement against the index and the target, and propose what repairs it."""
    for text in asked(situation.world):
        line = read_line(text)
        if line is None:
            continue
        yield from _extra(situation, text, line)
        yield from _marker(situation, text, line)
        if not situation.seen.built:
            yield from _unresolvable(situation, text, line)


def _repair(situation: Situation, text: str, new: str, cause: Cause, weight: float) -> Hypothesis:
    return Hypothesis("repair a requirement", replaced(situation.world, text, new), cause, weight, 4.0)


def _extra(situation: Situation, text: str, line: Line) -> Iterator[Hypothesis]:
    """An extra that the distribution does not have is ignored in silence."""
    there = situation.contents.by_name.get(line.key)
    if there is None or not line.extras:
        return
    for extra in line.extras:
        if extra in there.extras:
            continue
        for near in difflib.get_close_matches(extra, there.extras, n=2, cutoff=0.4):
            extras = tuple(near if other == extra else other for other in line.extras)
            cause = Cause(
                kind="package",
                name=line.name,
                why=f"{line.name} has no extra {extra}; it has {', '.join(there.extras)}",
            )
            yield _repair(situation, text, replace(line, extras=extras).text(), cause, 0.9)


def _marker(situation: Situation, text: str, line: Line) -> Iterator[Hypothesis]:
    """A marker that does not hold here keeps a requirement out in silence."""
    if not line.marker or line.applies(situation.minor):
        return
    names = {distributions_for(module.split(".")[0])[0] for module in situation.imported}
    wanted = line.key in names or line.key in {module.split(".")[0] for module in situation.imported}
    cause = Cause(
        kind="missing",
        name=line.name,
        why=f"the marker {line.marker} keeps {line.name} out on Python {situation.minor}",
    )
    yield _repair(situation, text, replace(line, marker="").text(), cause, 0.9 if wanted else 0.2)


def _unresolvable(situation: Situation, text: str, line: Line) -> Iterator[Hypothesis]:
    if line.url:
        yield from _address(situation, text, line)
        return
    releases = situation.releases(line.name)
    if not releases:
        yield from _unknown_name(situation, text, line)
        return
    if "+" in line.pin:
        public = line.pin.split("+")[0]
        cause = Cause(kind="package", name=line.name, why=f"no index here has the build {line.pin}")
        yield _repair(situation, text, replace(line, specifier=f"=={public}").text(), cause, 0.85)
    matching = tuple(r for r in releases if line.admits(str(r.version)) and (not r.yanked or line.pin))
    if not matching and "+" not in line.pin:
        yield from _empty_range(situation, text, line, releases)
    elif not any(installable(release, situation.target, sources=True) for release in matching):
        yield from _not_for_this_target(situation, text, line, matching)


def _address(situation: Situation, text: str, line: Line) -> Iterator[Hypothesis]:
    """A requirement by address: the same version by its name."""
    filename = line.url.split("#")[0].rstrip("/").rsplit("/", 1)[-1].replace("%2B", "+")
    version = ""
    try:
        version = str(parse_wheel_filename(filename)[1])
    except InvalidWheelFilename:
        match = re.search(r"[-@]v?(\d+(?:\.\w+)+)", filename)
        version = re.sub(r"\.(tar|zip|tgz).*$", "", match[1]) if match else ""
    cause = Cause(kind="package", name=line.name, why=f"{line.url} does not lead to a file")
    for specifier, weight in ((f"=={version}", 0.9), ("", 0.3)):
        if specifier != "==":
            yield _repair(situation, text, replace(line, url="", specifier=specifier).text(), cause, weight)


def _unknown_name(situation: Situation, text: str, line: Line) -> Iterator[Hypothesis]:
    """No distribution has the name: perhaps it is the name of a module."""
    for at, name in enumerate(distributions_for(line.name)[:3]):
        if name != line.key and situation.releases(name):
            cause = Cause(
                kind="package", name=line.name, why=f"the index has no {line.name}; {name} installs that module"
            )
            there = line.pin and of_version(situation.releases(name), line.pin)
            new = replace(line, name=name, specifier=line.specifier if there else "")
            yield _repair(situation, text, new.text(), cause, 0.9 - 0.2 * at)
    cause = Cause(kind="package", name=line.name, why=f"the index has no {line.name}")
    yield from _what_the_probe_imports(situation, text, line, cause, 0.85)


def _empty_range(situation: Situation, text: str, line: Line, releases: tuple[Release, ...]) -> Iterator[Hypothesis]:
    """No release meets the specifier: the nearest that there are."""
    nearest = _nearest(line, releases)
    cause = Cause(kind="package", name=line.name, why=f"the index has no {line.name}{line.specifier} (any more)")
    for at, release in enumerate(nearest):
        yield _repair(situation, text, replace(line, specifier=f"=={release.version}").text(), cause, 0.85 - 0.15 * at)
    lower = re.search(r">=?\s*([^,\s]+)", line.specifier)
    if lower:
        yield _repair(situation, text, replace(line, specifier=lower[0]).text(), cause, 0.9)


def _nearest(line: Line, releases: tuple[Release, ...]) -> tuple[Release, ...]:
    bound = re.search(r"[<>=!~]=?=?\s*([^,\s]+)", line.specifier)
    wanted = version_of(line.pin or (bound[1] if bound else ""))
    if wanted is None:
        return ()
    usable = [release for release in releases if not release.yanked]
    below = [release for release in usable if release.version < wanted]
    above = [release for release in usable if release.version > wanted]
    same_series = [r for r in below[-1:] if r.version.release[:2] == wanted.release[:2]]
    return tuple(same_series + above[:1] + [r for r in below[-1:] if r not in same_series])


def _not_for_this_target(
    situation: Situation, text: str, line: Line, matching: tuple[Release, ...]
) -> Iterator[Hypothesis]:
    """Nothing of it can be installed here: another distribution of the same module, or leave it to where it can be."""
    cause = cause_for_target(situation, line, matching)
    yield from replacements(situation, text, line, cause, 0.45 if cause.kind == "python" else 0.9)


def cause_for_target(situation: Situation, line: Line, matching: tuple[Release, ...]) -> Cause:
    """Return what keeps releases from being installed here: the Python, the platform, or that there is nothing."""
    why = f"{line.name} has nothing for Python {situation.minor} on {situation.host.system} {situation.host.machine}"
    elsewhere = any(artefact.wheel for release in matching for artefact in release.artefacts)
    python_decides = any(
        installable(release, replace(situation.target, python=python), sources=True)
        for release in matching
        for python in situation.pythons
    )
    if python_decides:
        return Cause(kind="python", name=situation.minor, why=why)
    return Cause(kind="platform" if elsewhere else "package", name=line.name, why=why)


def replacements(situation: Situation, text: str, line: Line, cause: Cause, weight: float) -> Iterator[Hypothesis]:
    """Propose other distributions that install the same modules and have something for this target."""
    others = [name for name in rivals(line.key) if name not in {other.key for other in situation.lines}]
    if not situation.host.accelerators:
        others.sort(key=lambda name: not name.endswith("-cpu"))
    for at, name in enumerate(others[:4]):
        releases = situation.releases(name)
        same = of_version(releases, line.pin) if line.pin else None
        if same is not None and installable(same, situation.target, sources=False):
            new = replace(line, name=name)
        elif any(installable(release, situation.target, sources=False) for release in stable(releases)[-3:]):
            new = replace(line, name=name, specifier="")
        else:
            continue
        world, seconds = replaced(situation.world, text, new.text()), 5.0 + situation.fetch_seconds(new.text())
        yield Hypothesis("another distribution of the module", world, cause, weight - 0.12 * at, seconds, text)
    if not situation.seen.built:
        yield from _what_the_probe_imports(situation, text, line, cause, weight - 0.1)


def _what_the_probe_imports(
    situation: Situation, text: str, line: Line, cause: Cause, weight: float
) -> Iterator[Hypothesis]:
    """Propose, instead of a line, the distributions that are named as the modules which nothing asked for installs."""
    asked_for = {other.key for other in situation.lines}
    for module in situation.imported:
        joined = canonicalize_name(module.replace(".", "-"))
        names = [joined] if "." in module else [joined, *distributions_for(module)]
        for name in dict.fromkeys(name for name in names if name not in asked_for):
            releases = situation.releases(name) if not in_standard_library(module.split(".")[0]) else ()
            if releases:
                same = line.pin and of_version(releases, line.pin)
                new = replace(line, name=name, specifier=line.specifier if same else "")
                world = replaced(situation.world, text, new.text())
                yield Hypothesis("another distribution of the module", world, cause, weight, 5.0, text)


def leave_out(situation: Situation) -> Iterator[Hypothesis]:
    """Propose to leave out, or to leave to its own platform, what cannot be had here and the probe never imports."""
    if situation.seen.built:
        return
    wanted = {name for module in situation.imported for name in distributions_for(module.split(".")[0])}
    wanted |= {module.split(".")[0].lower() for module in situation.imported}
    lines = asked(situation.world)
    for text in lines:
        line = read_line(text)
        if line is None or line.key in wanted or len(lines) < 2:
            continue
        named = situation.reading.says(line.name) or f"`{line.key}" in situation.reading.text
        weight = 0.55 if named else 0.2
        stops = "does not go with the rest" if _can_be_had(situation, line) else "cannot be installed here"
        cause = Cause(kind="package", name=line.name, why=f"{line.name} {stops}, and the probe never imports it")
        system = _only_system(situation.releases(line.name))
        if system and system != situation.markers["sys_platform"]:
            marked = replace(line, marker=f"sys_platform == '{system}'").text()
            why = f"{line.name} is made for {system} alone, and the probe never imports it"
            world = replaced(situation.world, text, marked)
            yield Hypothesis(
                "leave it to its platform", world, Cause(kind="platform", name=line.name, why=why), weight + 0.2, 4.0
            )
        world = without_requirement(situation.world, line.key)
        yield Hypothesis("leave out", world, cause, weight, 4.0, text)


def _can_be_had(situation: Situation, line: Line) -> bool:
    """Tell whether some release that a line admits has a wheel here: then it is not this line alone that stops it."""
    fitting = (release for release in situation.releases(line.name) if line.admits(str(release.version)))
    return not line.url and any(installable(release, situation.target, sources=False) for release in fitting)


def _only_system(releases: tuple[Release, ...]) -> str:
    """Return the `sys_platform` for which alone there are wheels, or empty."""
    tags = {tag[2] for release in releases[-5:] for artefact in release.artefacts for tag in artefact.tags}
    for prefix, system in (("macosx", "darwin"), ("win", "win32"), ("manylinux", "linux")):
        if tags and all(tag.startswith(prefix) for tag in tags):
            return system
    return ""
