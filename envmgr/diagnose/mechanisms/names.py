"""Changes that bring back a name: add what is missing, cap what lost it, take a newer one that has it, or a rival."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from packaging.utils import canonicalize_name

from envmgr.diagnose.knowledge import (
    cap_for_lost_module,
    distributions_for,
    first_without,
    in_standard_library,
    last_python_with,
    other_losses,
)
from envmgr.diagnose.mechanisms.ladders import below, ladder
from envmgr.diagnose.mechanisms.repair import replacements
from envmgr.diagnose.releases import of_version
from envmgr.diagnose.requirement import Line, read_line
from envmgr.diagnose.situation import Hypothesis, Situation
from envmgr.diagnose.worlds import asked, with_requirement
from envmgr.model.finding import Cause

_LOOK_UPS = frozenset({"__getattr__", "__getattribute__"})
_REMOVED = re.compile(
    r"\bremoved\b[^.\n]{0,80}?\b(?:since|in|as of|from)\b[^.\n\d]{0,40}(\d+(?:\.\d+)+)", re.IGNORECASE
)


def hypotheses(situation: Situation) -> Iterator[Hypothesis]:
    """Propose changes for modules and names that were looked for in vain."""
    if not situation.seen.built:
        return
    yield from _missing(situation)
    yield from _not_installed(situation)
    yield from _unmet(situation)
    yield from _lost_names(situation)
    yield from _ladders(situation)
    yield from _freed(situation)
    yield from _rivals(situation)
    yield from _shared(situation)


def _missing(situation: Situation) -> Iterator[Hypothesis]:
    wanted = list(dict.fromkeys(reversed(situation.reading.modules)))[:3]
    weight = 0.85
    if not situation.seen.text:
        wanted = [module for module in situation.imported if not _there(situation, module)]
        weight = 0.6
    for module in wanted:
        top = module.split(".")[0]
        distribution, first_without = cap_for_lost_module(top)
        if distribution:
            line = f"{distribution}<{first_without}" if first_without else distribution
            why = f"{top} comes with {distribution}" + (f" before {first_without}" if first_without else "")
            kind = "package" if distribution in situation.contents.by_name else "missing"
            cause = Cause.model_validate({"kind": kind, "name": distribution, "why": why})
            yield _added(situation, line, cause, weight + 0.05)
            for other in () if first_without else other_losses(distribution, top):
                yield _added(situation, f"{distribution}<{other}", cause, weight)
        if in_standard_library(top) or last_python_with(top):
            continue
        if situation.contents.has(top) and "." in module:
            yield from _submodule(situation, module, weight)
        elif not situation.contents.has(top):
            yield from _top_level(situation, top, weight)


def _not_installed(situation: Situation) -> Iterator[Hypothesis]:
    """A look-up of a distribution by its own name found nothing."""
    for name in situation.reading.distributions[-3:]:
        if canonicalize_name(name) not in situation.contents.by_name and situation.releases(name):
            why = f"the distribution {name} is looked up, and is not installed"
            yield _added(situation, name, Cause(kind="missing", name=canonicalize_name(name), why=why), 0.85)


def _there(situation: Situation, module: str) -> bool:
    top = module.split(".", maxsplit=1)[0]
    return in_standard_library(top) or situation.contents.has(top)


def _top_level(situation: Situation, top: str, weight: float) -> Iterator[Hypothesis]:
    names = list(distributions_for(top))
    if not situation.host.accelerators:
        names.sort(key=lambda name: not name.endswith("-cpu"))
    if not any(situation.releases(name) for name in names[:1]):
        names = [*situation.contents.held_back(top), *names]
    elsewhere = {line.key for line in situation.lines}
    for at, name in enumerate([name for name in dict.fromkeys(names) if name not in elsewhere][:3]):
        why = f"nothing here installs the module {top}; {name} does"
        yield _added(situation, name, Cause(kind="missing", name=name, why=why), weight - 0.2 * at)


def _submodule(situation: Situation, module: str, weight: float) -> Iterator[Hypothesis]:
    """A package is there without one of its parts: another distribution brings it, at the same version if it has it."""
    parts = module.split(".")
    owner = situation.contents.owner_of(parts[0])
    for depth in range(2, min(len(parts), 3) + 1):
        name = "-".join(parts[:depth]).replace("_", "-")
        releases = situation.releases(name)
        if not releases or name in situation.contents.by_name:
            continue
        there = situation.contents.by_name.get(owner)
        same = of_version(releases, there.version) if there else None
        line = f"{name}=={same.version}" if same else name
        cause = Cause(kind="missing", name=name, why=f"{module} comes with {name}, which is not installed")
        yield _added(situation, line, cause, weight + 0.05)


def _added(situation: Situation, line: str, cause: Cause, weight: float) -> Hypothesis:
    return Hypothesis("add what is missing", with_requirement(situation.world, line), cause, weight, 5.0)


def _unmet(situation: Situation) -> Iterator[Hypothesis]:
    """Give an installed distribution what it says that it requires."""
    for unmet in situation.unmet[:4]:
        line = _plain(unmet.wanted)
        if unmet.found:
            why = f"{unmet.of} requires {line}; there is {unmet.name} {unmet.found}"
            cause = Cause(kind="package", name=unmet.name, why=why)
        else:
            cause = Cause(kind="missing", name=unmet.name, why=f"{unmet.of} requires {line}, which is not there")
        seconds = 5.0 + situation.fetch_seconds(line)
        yield Hypothesis("meet what is required", with_requirement(situation.world, line), cause, 0.45, seconds)


def _plain(wanted: str) -> str:
    """Return a requirement of metadata as a person would type it, without marker and brackets."""
    line = read_line(wanted.split(";", maxsplit=1)[0])
    return line.text() if line else wanted


def _lost_names(situation: Situation) -> Iterator[Hypothesis]:
    """A module that is there lacks a name: its distribution lost it, or does not have it yet."""
    for module, name in reversed(situation.reading.names):
        if last_python_with(module, name):
            continue
        owner = situation.contents.owner_of(module) if module else ""
        top = module.split(".")[0]
        if top and not owner and not in_standard_library(top):
            yield from _top_level(situation, top, 0.85)
        yield from _before_it_was_lost(situation, owner, module, name)
        if owner:
            yield from ladder(situation, owner, f"{module} has no {name}", 0.6)
    yield from _refused(situation)
    lost = situation.reading.missing
    if lost and "." in lost and situation.contents.has(lost):
        owner = situation.contents.owner_of(lost)
        yield from ladder(situation, owner, f"{owner} has no {lost}", 0.6)


def _refused(situation: Situation) -> Iterator[Hypothesis]:
    """A library's own look-up of names raised: it has no more, or not yet, what it was asked for."""
    reading = situation.reading
    last = reading.frames[-1] if reading.frames else None
    if last is None or last.function not in _LOOK_UPS or reading.exception not in {"AttributeError", "ImportError"}:
        return
    owner = situation.contents.owner_of(last.module)
    if not owner or reading.names:
        return
    said, why = _REMOVED.search(reading.text), f'it says "{reading.message.rstrip(".")}"'
    if said:
        yield from below(situation, owner, said[1], f"{why} in {owner} {situation.seen.resolved.get(owner, '')}")
    yield from ladder(situation, owner, why, 0.6)


def _before_it_was_lost(situation: Situation, owner: str, module: str, name: str) -> Iterator[Hypothesis]:
    """Cap a library below the series that is known to have taken the name away."""
    known = first_without(module, name)
    if known and owner:
        yield from below(situation, owner, known, f"{owner} {known} took {name} out of {module}")


def _ladders(situation: Situation) -> Iterator[Hypothesis]:
    """Suspect the distributions asked for, and those in whose code it broke, with little to go by."""
    broke_in = {situation.contents.owner_of(frame.module) for frame in situation.reading.frames if frame.top}
    imported = {situation.contents.owner_of(module) for module in situation.imported}
    for line in situation.lines:
        if line.pin or line.key in imported:
            yield from ladder(situation, line.key, "it fails", 0.3 if line.key in broke_in else 0.18)


def _freed(situation: Situation) -> Iterator[Hypothesis]:
    """Take away what holds a distribution that the probe does not even import."""
    wanted = {situation.contents.owner_of(module) for module in situation.imported}
    for line in situation.lines:
        if not line.specifier or line.key in wanted:
            continue
        named = situation.reading.says(line.name)
        cause = Cause(
            kind="package", name=line.name, why=f"{line.name}{line.specifier} is held where the rest does not fit it"
        )
        world = with_requirement(situation.world, replace(line, specifier="").text())
        weight = 0.5 if named else 0.2
        gives_up = f"{line.name}{line.specifier}"
        yield Hypothesis("free what is held", world, cause, weight, 6.0, gives_up)


def _rivals(situation: Situation) -> Iterator[Hypothesis]:
    """A module of the right name that is not the one that is meant."""
    texts = dict(zip((line.key for line in situation.lines), asked(situation.world), strict=False))
    wanted = {module.split(".")[0] for module in situation.imported}
    for line in situation.lines:
        there = situation.contents.by_name.get(line.key)
        tops = {module.split(".")[0] for module in there.modules} if there else set()
        if not tops & wanted:
            continue
        broken = any(frame.top in tops for frame in situation.reading.frames)
        first = next(iter(distributions_for(next(iter(tops & wanted)))), line.key)
        weight = (0.6 if broken else 0.25) + (0.2 if first != line.key else -0.2)
        if first.startswith(line.key) or line.key.startswith(first):  # a variant of one project breaks alike
            weight = 0.6 if "cannot open shared object" in situation.reading.text else min(weight, 0.12)
        cause = Cause(
            kind="package", name=line.name, why=f"{line.name} installs that module too, but not the one that is meant"
        )
        yield from replacements(situation, texts[line.key], line, cause, weight)


def _shared(situation: Situation) -> Iterator[Hypothesis]:
    """Two distributions own the same file: keep one of them."""
    asked_for = {line.key: text for line, text in zip(situation.lines, asked(situation.world), strict=False)}
    for group in situation.contents.shared():
        for name in group:
            others = [other for other in group if other != name]
            if name not in asked_for:
                continue
            required = any(unmet_of for unmet_of in _required_by(situation, name))
            why = f"{name} and {', '.join(others)} own the same files; the last one installed won"
            cause = Cause(kind="conflict", name=name, why=why)
            lines = [line for line in dict.fromkeys(asked(situation.world)) if line != asked_for[name]]
            world = situation.world.model_copy(update={"requirements": tuple(lines), "steps": ()})
            weight = 0.6 - (0.3 if required else 0.0) + (0.1 if situation.reading.says(name) else 0.0)
            yield Hypothesis("keep one owner", world, cause, weight, 6.0, asked_for[name])


def _required_by(situation: Situation, name: str) -> list[str]:
    return [
        distribution.name
        for distribution in situation.contents.distributions
        if any(
            Line(name=text.split(";")[0].strip().split("[")[0]).key.startswith(name) for text in distribution.requires
        )
    ]
