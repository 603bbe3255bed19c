"""Which interpreter of a host serves a manifest, or why none does: pure decisions on facts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version

from envmgr.errors import UsageError
from envmgr.model.host import HostFacts, Interpreter, Match
from envmgr.model.lacking import Lacking
from envmgr.model.manifest import Manifest
from envmgr.model.platform import Platform, platform_of

SOURCES = ("option", "pyenv", "uv", "path", "asdf", "mise", "py-launcher", "system", "conda")
"""Who found an interpreter, the preferred first, where version and architecture are equal."""

_REQUEST = re.compile(
    r"^(?P<implementation>cpython|pypy|graalpy|python)?[-@]?(?P<version>\d+(\.\d+){0,2}\S*?)?(?P<free>t|\+freethreaded)?"
    r"(-(?P<system>linux|macos|windows)(-(?P<arch>[a-z0-9_]+))?\S*)?$",
    re.IGNORECASE,
)
_COMPARISONS = frozenset("<>=!~")
_PATCHES = range(40, -1, -1)
_OLDEST_FETCHED = Version("3.8")

ROSETTA = "Rosetta 2"
"""The name under which a host lacks what runs x86-64 programs on Apple silicon."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What an interpreter must be: a version, an implementation, free-threaded or not, or one certain file."""

    versions: SpecifierSet
    text: str
    implementation: str = "CPython"
    free_threaded: bool = False
    path: str = ""
    platform: Platform | None = None


def match(manifest: Manifest, variant: str, facts: HostFacts, python_request: str | None = None) -> Match:
    """Return the interpreter that serves a manifest's variant on a host, or what uv can fetch, or the reason why not.

    Native platforms come first, a translated one serves where no native one can; then the newest version, then the
    order of SOURCES. Free-threaded builds and other implementations than CPython serve only on request. Raises
    UsageError for a request that makes no sense.
    """
    wish = _wish(manifest, variant, python_request)
    native, translated = host_platforms(facts)
    offered = [platform for platform in (*native, *translated) if platform in manifest.platforms]
    offered = [platform for platform in offered if wish.platform in {None, platform}]
    label = manifest.name if variant in {"", "default"} else f"{manifest.name}@{variant}"
    if not offered:
        lacking = Lacking(kind="platform", name=_either(list(manifest.platforms)))
        return Match(reason=_wrong_platform(label, manifest, facts, wish), lacking=lacking)
    considered = tuple(f"{describe(one)}: {_objection(one, wish, offered) or 'fits'}" for one in facts.interpreters)
    for platforms in (native, translated):
        served = _serve([platform for platform in offered if platform in platforms], wish, facts)
        if served is not None:
            return served.model_copy(update={"considered": considered})
    reason = _not_that_one(label, offered, wish, facts) if wish.path else _nothing_found(label, offered, wish, facts)
    lacking = Lacking(kind="python", name=wish.text.removeprefix("Python "), obtainable=_can_be_fetched(wish))
    return Match(platform=offered[0], reason=reason, lacking=lacking, considered=considered)


def host_platforms(facts: HostFacts) -> tuple[tuple[Platform, ...], tuple[Platform, ...]]:
    """Return the platforms whose interpreters run natively on a host, and those that it can run translated."""
    own = platform_of(facts.system, facts.machine)
    native = (own,) if own is not None else ()
    if facts.system == "macos" and own is Platform.MACOS_ARM64:
        return native, (Platform.MACOS_X86_64,)
    if facts.system == "windows" and facts.machine.lower() in {"arm64", "aarch64"}:
        return native, (Platform.WINDOWS_X86_64,)
    return native, ()


def describe(interpreter: Interpreter) -> str:
    """Return one line that tells an interpreter from others."""
    flags = " free-threaded" if "t" in interpreter.abi_flags else ""
    translated = " translated" if interpreter.translated else ""
    kind = f"{interpreter.implementation} {interpreter.version}{flags}"
    return f"{kind} {interpreter.arch}{translated} ({interpreter.source}, {interpreter.executable})"


def platform_name(interpreter: Interpreter) -> Platform | None:
    """Return the platform whose wheels an interpreter takes."""
    return platform_of(interpreter.system, interpreter.arch)


def _wish(manifest: Manifest, variant: str, request: str | None) -> Wish:
    python = variant.removeprefix("py") if variant not in {"", "default"} else ""
    if not python and not request and manifest.variants is not None:
        python = manifest.variants.python[0]
    asked = [manifest.python, f"=={python}.*" if python else ""]
    text = f"Python {python}" if python else f"Python {manifest.python}"
    if not request:
        return Wish(_specifiers(asked), text)
    if request.strip()[0:1] in _COMPARISONS:
        return Wish(_specifiers([*asked, request], request), f"{text} as {request}")
    parts = _REQUEST.match(request.strip())
    if parts is None:
        return Wish(_specifiers(asked, request), text, path=request)
    version = (parts["version"] or "").rstrip(".")
    if version[:1].isdigit():
        asked.append(f"=={version}.*" if re.fullmatch(r"\d+(\.\d+)?", version) else f"=={version}")
    names = {"pypy": "PyPy", "graalpy": "GraalPy"}
    return Wish(
        _specifiers(asked, request),
        f"{text} as {request}",
        implementation=names.get((parts["implementation"] or "").lower(), "CPython"),
        free_threaded=bool(parts["free"]),
        platform=platform_of(parts["system"], parts["arch"]) if parts["system"] and parts["arch"] else None,
    )


def _specifiers(texts: list[str], request: str = "") -> SpecifierSet:
    try:
        return SpecifierSet(",".join(text for text in texts if text))
    except InvalidSpecifier:
        asked = request or ", ".join(texts)
        raise UsageError(
            f"{asked} asks for no Python",
            "wanted a version, a specifier, an implementation with a version, or a path",
            "for example 3.8, >=3.9, pypy3.10 or /usr/bin/python3",
        ) from None


def _objection(one: Interpreter, wish: Wish, platforms: list[Platform]) -> str:
    """Return why an interpreter does not serve, "" when it does."""
    if wish.path and one.executable != wish.path and one.source != "option":
        return f"not the one asked for ({wish.path})"
    if not wish.versions.contains(one.version, prereleases=bool(wish.path) or None):
        return f"not {wish.text}"
    if not wish.path and one.implementation != wish.implementation:
        return f"not {wish.implementation}"
    if not wish.path and ("t" in one.abi_flags) != wish.free_threaded:
        return "not free-threaded" if wish.free_threaded else "free-threaded, and that was not asked for"
    platform = platform_name(one)
    if platform not in platforms:
        name = platform.value if platform is not None else f"{one.system}-{one.arch}"
        return f"is for {name}, wanted {_either(platforms)}"
    return ""


def _serve(platforms: list[Platform], wish: Wish, facts: HostFacts) -> Match | None:
    """Return the best interpreter for these platforms, or what uv can fetch for them, or None."""
    if not platforms:
        return None
    fitting = [one for one in facts.interpreters if not _objection(one, wish, platforms)]
    if fitting:
        best = min(fitting, key=_preference)
        return Match(platform=platform_name(best), interpreter=best)
    for platform, version in _fetchable(platforms, wish, facts):
        arch = "aarch64" if platform.arch == "arm64" else platform.arch
        return Match(platform=platform, fetch=f"cpython-{version}-{platform.system}-{arch}")
    return None


def _preference(one: Interpreter) -> tuple[bool, tuple[int, ...], int]:
    version = Version(one.version)
    newest_first = tuple(-number for number in version.release)
    rank = SOURCES.index(one.source) if one.source in SOURCES else len(SOURCES)
    return version.is_prerelease, newest_first, rank


def _fetchable(platforms: list[Platform], wish: Wish, facts: HostFacts) -> Iterator[tuple[Platform, str]]:
    """Yield what uv could fetch, the newest first."""
    if wish.path or wish.implementation != "CPython" or wish.free_threaded:
        return
    own = platform_of(facts.system, facts.machine)
    for platform in platforms:
        if platform is not own and _lacks_rosetta(facts):
            continue
        suffix = "" if platform is own else f"-{platform.value}"
        minors = [entry.removesuffix(suffix) for entry in facts.fetchable_pythons if entry.endswith(suffix)]
        for minor in sorted((minor for minor in minors if "-" not in minor), key=Version, reverse=True):
            version = _fitting_version(minor, wish.versions)
            if version:
                yield platform, version


def _fitting_version(minor: str, versions: SpecifierSet) -> str:
    """Return the minor where its newest patch fits, else the newest patch that does, else ""."""
    if versions.contains(f"{minor}.99"):
        return minor
    return next((f"{minor}.{patch}" for patch in _PATCHES if versions.contains(f"{minor}.{patch}")), "")


def _wrong_platform(label: str, manifest: Manifest, facts: HostFacts, wish: Wish) -> str:
    exists = f"{label} exists for {_either(list(manifest.platforms))}"
    if wish.platform is not None and wish.platform not in manifest.platforms:
        return f"{exists}; asked for was {wish.platform.value}"
    return f"{exists}; this host is {facts.system}-{facts.machine}"


def _nothing_found(label: str, platforms: list[Platform], wish: Wish, facts: HostFacts) -> str:
    wanted = f"{label} wants {wish.text} for {_either(platforms)}"
    found = ", ".join(dict.fromkeys(_short(one) for one in facts.interpreters)) or "no Python"
    if wish.implementation != "CPython" or wish.free_threaded:
        return f"{wanted}; found {found}; uv python list --only-downloads shows what uv can fetch"
    return f"{wanted}; found {found}; {how_to_get(wish.versions, platforms, facts)}"


def _not_that_one(label: str, platforms: list[Platform], wish: Wish, facts: HostFacts) -> str:
    """Return why the one interpreter that was asked for by its path does not serve."""
    wanted = f"{label} wants {wish.text} for {_either(platforms)}; asked for was {wish.path}"
    for one in facts.interpreters:
        if one.executable == wish.path or one.source == "option":
            return f"{wanted}, which is {describe(one)}: {_objection(one, wish, platforms)}"
    rejected = (
        one.reason for one in facts.rejected_interpreters if one.executable == wish.path or one.source == "option"
    )
    return f"{wanted}: {next(rejected, 'no Python is known there')}"


def _short(one: Interpreter) -> str:
    free = "t" if "t" in one.abi_flags else ""
    name = "" if one.implementation == "CPython" else f"{one.implementation} "
    return f"{name}{one.version}{free} {one.arch}"


def _can_be_fetched(wish: Wish) -> bool:
    """Tell whether one command gets what is wished for; not a file of one's own, nor what uv has no longer."""
    minors = (f"3.{number}" for number in range(_OLDEST_FETCHED.minor, 40))
    plain = wish.implementation == "CPython" and not wish.free_threaded and not wish.path
    return plain and any(_fitting_version(minor, wish.versions) for minor in minors)


def how_to_get(versions: SpecifierSet, platforms: list[Platform], facts: HostFacts) -> str:
    """Return the command by which a Python that is not there can be had."""
    minors = [f"3.{number}" for number in range(6, 40) if _fitting_version(f"3.{number}", versions)]
    if not minors:
        return "no Python meets that"
    minor = next((minor for minor in minors if Version(minor) >= _OLDEST_FETCHED), minors[0])
    fetched = Version(minor) >= _OLDEST_FETCHED
    if facts.system == "macos" and platforms[0] in host_platforms(facts)[1]:
        install = f"uv python install cpython-{minor}-macos-x86_64-none" if fetched else f"pyenv install {minor}"
        prefix = "" if fetched else "arch -x86_64 "
        rosetta = "softwareupdate --install-rosetta, then " if _lacks_rosetta(facts) else ""
        return f"get an x86-64 Python that Rosetta runs: {rosetta}{prefix}{install}"
    if fetched:
        return f"get it: envmgr python install {minor}"
    if facts.system == "windows":
        return f"uv cannot fetch it: install Python {minor} with the installer of its release page"
    return f"uv cannot fetch it: pyenv install {minor}"


def _lacks_rosetta(facts: HostFacts) -> bool:
    return any(lack.name == ROSETTA for lack in facts.lacks)


def _either(platforms: list[Platform]) -> str:
    return ", ".join(platform.value for platform in platforms)
