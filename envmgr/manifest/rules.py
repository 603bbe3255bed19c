"""The rules that a manifest's values obey, each a generator of faults."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import PurePosixPath

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import InvalidName, canonicalize_name

from envmgr.manifest.faults import Fault, suggest
from envmgr.manifest.positions import Key
from envmgr.model.manifest import Manifest
from envmgr.model.outcome import NEVER_OBSERVED
from envmgr.model.platform import Platform

_VARIANT = re.compile(r"3\.\d+")
_VARIABLE = re.compile(r"[^=\0]+")


def versions(manifest: Manifest) -> Iterator[Fault]:
    """Check the Python specifier, and the variants against it."""
    wanted = _specifier(manifest.python)
    if wanted is None:
        hint = f"Write =={manifest.python}.* for one minor version." if _VARIANT.fullmatch(manifest.python) else ""
        yield Fault(("python",), f"not a PEP 440 specifier: '{manifest.python}'", "wanted such as >=3.8,<3.10", hint)
    if not manifest.platforms:
        yield Fault(("platforms",), "no platform is listed", hint="Leave the key out for all platforms.")
    seen: set[str] = set()
    for number, python in enumerate(manifest.variants.python if manifest.variants else ()):
        key: Key = ("variants", "python", number)
        if not _VARIANT.fullmatch(python):
            yield Fault(key, f"not a minor version of Python: '{python}'", "wanted such as 3.8")
        elif python in seen:
            yield Fault(key, f"'{python}' is listed twice")
        elif wanted is not None and not any(wanted.contains(f"{python}.{patch}") for patch in range(60)):
            yield Fault(key, f"Python {python} is outside of what the manifest allows", f"wanted {manifest.python}")
        seen.add(python)


def packages(manifest: Manifest) -> Iterator[Fault]:
    """Check what is resolved: requirements, overrides, build constraints and requirements, allowed sources."""
    resolved = {
        "requirements": manifest.requirements,
        "overrides": manifest.overrides,
        "build-constraints": manifest.build_constraints,
    }
    for key, texts in resolved.items():
        yield from _requirements((key,), texts, urls=False)
    for name, texts in manifest.build_requires.items():
        yield from _distribution(("build-requires", name), name)
        yield from _requirements(("build-requires", name), texts, urls=False)
    for number, name in enumerate(manifest.allow_source):
        if name != "*":
            yield from _distribution(("allow-source", number), name)


def steps(manifest: Manifest) -> Iterator[Fault]:
    """Check the history, and that there is either a history or a set of requirements."""
    if manifest.requirements and manifest.step:
        why = "requirements are resolved and locked, steps are replayed as a user typed them"
        yield Fault(("step",), "both requirements and steps", why, "Keep the one or the other.")
    if not manifest.requirements and not manifest.step:
        yield Fault((), "neither requirements nor steps", "there is nothing to install", 'Add requirements = ["…"].')
    for number, step in enumerate(manifest.step):
        key: Key = ("step", number)
        if not step.install and not step.uninstall:
            yield Fault(key, "this step does nothing", "wanted install or uninstall")
        yield from _requirements((*key, "install"), step.install, urls=True)
        for place, name in enumerate(step.uninstall):
            yield from _distribution((*key, "uninstall", place), name)
        for place, flag in enumerate(step.flags):
            value_of_a_flag = place > 0 and step.flags[place - 1].startswith("-")
            if not flag.startswith("-") and not value_of_a_flag:
                yield Fault((*key, "flags", place), f"not a flag: '{flag}'", "wanted such as --no-deps")


def indexes(manifest: Manifest) -> Iterator[Fault]:
    """Check the explicit indexes: one name each, no credential, and every package asked for by name."""
    asked = _asked(manifest)
    names: set[str] = set()
    served: dict[tuple[str, Platform], str] = {}
    for number, index in enumerate(manifest.index):
        key: Key = ("index", number)
        if index.name in names:
            yield Fault((*key, "name"), f"two indexes are called '{index.name}'")
        names.add(index.name)
        yield from _url((*key, "url"), index.url)
        for place, name in enumerate(index.packages):
            package: Key = (*key, "packages", place)
            faults = list(_distribution(package, name))
            yield from faults
            if faults:
                continue
            canonical = canonicalize_name(name)
            others = {served.setdefault((canonical, platform), index.name) for platform in index.platforms}
            for other in sorted(others - {index.name}):
                yield Fault(package, f"'{name}' is served by the index '{other}' already")
            if canonical not in asked:
                why = "an explicit index serves what the manifest asks for by name, never a mere dependency"
                yield Fault(package, f"'{name}' is not among the requirements", why, f"Add '{name}' to requirements.")


def walls(manifest: Manifest) -> Iterator[Fault]:
    """Check that nothing that an explicit index serves is asked for in a way in which another index would serve it."""
    served: dict[str, str] = {}
    for index in manifest.index:
        served.update({canonicalize_name(package): index.name for package in index.packages})
    lists: list[tuple[Key, Sequence[str]]] = [(("overrides",), manifest.overrides)]
    lists += [(("build-requires", name), texts) for name, texts in manifest.build_requires.items()]
    for key, texts in lists:
        for number, text in enumerate(texts):
            name = _name_of(text)
            if name in served:
                what = f"'{text}' would be taken from the default index, not from '{served[name]}'"
                why = "uv knows explicit indexes for requirements only"
                yield Fault((*key, number), what, why, "Write the version among the requirements instead.")


def places(manifest: Manifest) -> Iterator[Fault]:
    """Check the data folders and the variables."""
    for number, entry in enumerate(manifest.data):
        fault = _leaves(entry)
        if fault:
            yield Fault(("data", number), f"'{entry}' {fault}", "wanted ~/… or a path inside the project")
    for name in manifest.env:
        if not _VARIABLE.fullmatch(name):
            yield Fault(("env", name), "not the name of a variable")
    for number, name in enumerate(manifest.unset):
        if name in manifest.env:
            yield Fault(("unset", number), f"'{name}' is both set and unset", hint="Keep it under [env] or in unset.")


def expectations(manifest: Manifest, runners: Collection[str]) -> Iterator[Fault]:
    """Check what is expected: runner, platform and Python, an outcome that can be seen, a pattern for the reason."""
    for number, expect in enumerate(manifest.expect):
        key: Key = ("expect", number)
        if expect.runner is not None and expect.runner not in runners:
            yield Fault((*key, "runner"), f"unknown runner '{expect.runner}'", suggest(expect.runner, runners))
        if expect.platform is not None and expect.platform not in set(Platform):
            yield Fault((*key, "platform"), f"unknown platform '{expect.platform}'", suggest(expect.platform, Platform))
        if expect.python is not None and not _VARIANT.match(expect.python) and _specifier(expect.python) is None:
            yield Fault((*key, "python"), f"not a version of Python: '{expect.python}'", "wanted such as 3.8 or >=3.8")
        if expect.outcome in NEVER_OBSERVED:
            why = "it is what an expectation turns an outcome into"
            yield Fault(
                (*key, "outcome"),
                f"'{expect.outcome}' cannot be expected",
                why,
                "Name the bare outcome: failed, wrong, …",
            )
        try:
            re.compile(expect.reason)
        except re.error as error:
            yield Fault((*key, "reason"), f"not a regular expression: {error}", f"found '{expect.reason}'")


def _specifier(text: str) -> SpecifierSet | None:
    try:
        return SpecifierSet(text)
    except InvalidSpecifier:
        return None


def _requirements(key: Key, texts: Sequence[str], *, urls: bool) -> Iterator[Fault]:
    for number, text in enumerate(texts):
        try:
            requirement = Requirement(text)
        except InvalidRequirement as error:
            reason = str(error).partition("\n")[0]
            yield Fault((*key, number), f"not a PEP 508 requirement: '{text}'", reason, "Write such as numpy>=1.20,<2.")
            continue
        if requirement.url and not urls:
            why = "a lock names versions and hashes, never a place"
            yield Fault(
                (*key, number),
                f"'{requirement.name}' is asked for by URL",
                why,
                "Ask for a version, and name the [[index]].",
            )


def _distribution(key: Key, name: str) -> Iterator[Fault]:
    try:
        canonicalize_name(name, validate=True)
    except InvalidName:
        yield Fault(key, f"not the name of a distribution: '{name}'", "wanted the bare name, without version")


def _asked(manifest: Manifest) -> set[str]:
    texts = [*manifest.requirements, *(text for step in manifest.step for text in step.install)]
    return {_name_of(text) for text in texts}


def _name_of(text: str) -> str:
    """Return the canonical name that a requirement asks for, nothing where it is none."""
    try:
        return canonicalize_name(Requirement(text).name)
    except InvalidRequirement:
        return ""


def _url(key: Key, url: str) -> Iterator[Fault]:
    if not re.match(r"(https?|file)://", url):
        yield Fault(key, f"not the URL of an index: '{url}'", "wanted https://…, http://… or file://…")
    elif re.match(r"[a-z]+://[^/]*@", url):
        why = "a manifest is read by everyone who has the project"
        yield Fault(
            key, "the URL holds a credential", why, "Keep it in ~/.netrc, or in pip's or uv's own configuration."
        )


def _leaves(entry: str) -> str:
    """Return how a data entry leaves HOME and the project, or nothing."""
    bare = entry.replace("\\", "/")
    if bare.startswith("~") and not bare.startswith("~/"):
        return "names another user's home"
    inner = PurePosixPath(bare.removeprefix("~/"))
    if inner.is_absolute() or re.match(r"[A-Za-z]:", bare):
        return "is an absolute path"
    depth = 0
    for part in inner.parts:
        depth += -1 if part == ".." else 1
        if depth < 0:
            return "leaves HOME" if bare.startswith("~/") else "leaves the project"
    return "" if depth else "names a whole home or project"
