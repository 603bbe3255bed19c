"""Installs that find nothing: which systems, architectures and C libraries a distribution has wheels for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from packaging.utils import canonicalize_name

from envmgr.diagnose.records.architecture import native_python, translated_facts
from envmgr.diagnose.records.record import Judgement, Record, same_arch
from envmgr.diagnose.releases import Artefact, Release, Target, of_version, python_fits, wheel_fits
from envmgr.model.finding import Cause, Fix, HostAdvice
from envmgr.model.outcome import Phase

_NOTHING = (
    re.compile(r"No matching distribution found for ([A-Za-z0-9._-]+)"),
    re.compile(r"satisfies the requirement ([A-Za-z0-9._-]+)"),
    re.compile(r"Because ([A-Za-z0-9._-]+?)(?:==|>|<| )[^\n]*has no wheels with a matching"),
)
_WHEEL = re.compile(r"([A-Za-z0-9_.]+-[\w.+]+-(?:cp|py)\w+-\w+-[\w.]+)\.whl is not a supported wheel")
_SYSTEMS = {"Darwin": "macos", "Linux": "linux", "Windows": "windows"}
_PREFIXES = {"Darwin": "macosx", "Linux": "manylinux", "Windows": "win"}


def judge(record: Record) -> Iterator[Judgement]:
    """Accuse the platform, the Python, or the pin that has nothing for them."""
    match = _WHEEL.search(record.text)
    if match:
        yield _unfit_wheel(record, match[1])
    name = next((found[1] for pattern in _NOTHING for found in reversed(list(pattern.finditer(record.text)))), "")
    name = canonicalize_name(re.split(r"==|>|<|~|!", name)[0]) if name else ""
    if name:
        yield from _no_wheel(record, name)


def _platform(record: Record) -> str:
    system = _SYSTEMS.get(record.facts.system or "", "")
    return f"{system}-{record.arch}" if system and record.arch else system or record.arch


def _serves(artefact_platform: str, record: Record) -> bool:
    """Tell whether a wheel's platform tag is of the record's system, C library and architecture."""
    system, arch = record.facts.system or "", record.arch
    if artefact_platform == "any":
        return True
    if record.facts.libc.name == "musl":
        right_system = artefact_platform.startswith("musllinux")
    else:
        right_system = artefact_platform.startswith(
            (_PREFIXES.get(system, ""), "linux") if system == "Linux" else _PREFIXES.get(system, "")
        )
    tail = same_arch(
        re.sub(r"^.*?_(x86_64|amd64|arm64|aarch64|universal2|intel|i686|win32)$", r"\1", artefact_platform)
    )
    return right_system and (tail in {arch, "universal2"} or (tail == "intel" and arch == "x86_64"))


def _no_wheel(record: Record, name: str) -> Iterator[Judgement]:
    releases = record.releases(name)
    pin = next((line.pin for line in record.lines if line.key == name), "")
    release = of_version(releases, pin) if pin else (releases[-1] if releases else None)
    platform, musl = _platform(record), record.facts.libc.name == "musl"
    if musl:
        why = (
            f"this is musl ({record.facts.os_version or 'Alpine'}), and {name} has wheels for glibc alone (manylinux) "
            "and no source archive to build"
        )
        fix = Fix(host=(HostAdvice(need="os", name="glibc"),), program="use a system or base image with glibc")
        yield Judgement(
            Cause(kind="platform", name="musl", why=why), 0.92, Phase.RESOLVE, fix, "a glibc system", ("libc: musl",)
        )
        return
    if release is None:
        if releases:
            why = f"the index has no {name} {pin}"
            yield Judgement(Cause(kind="package", name=name, why=why), 0.8, Phase.RESOLVE)
        elif not record.translated and record.arch == "arm64":
            yield _wrong_platform(record, name, platform, (), "")
        return
    here = [a for a in release.artefacts if not a.wheel or any(_serves(tag[2], record) for tag in a.tags)]
    if not here and record.translated and _serves_native(release, record):
        why = (
            f"{name} {release.version} has wheels for {record.native_arch}; the interpreter is "
            f"{record.arch} and runs translated (Rosetta)"
        )
        cause = Cause(kind="python", name=record.arch, why=why)
        yield Judgement(cause, 0.92, Phase.RESOLVE, native_python(record), facts=translated_facts(record))
    elif not here:
        last = _last_for(record, releases)
        tags = tuple(sorted({tag[2] for artefact in release.artefacts for tag in artefact.tags}))
        yield _wrong_platform(record, name, platform, tags, last)
    elif record.python_minor and not any(
        python_fits(a, record.python_minor) and _wheel_for_python(a, record) for a in here
    ):
        why = f"{name} {release.version} has nothing for Python {record.python_minor}"
        yield Judgement(Cause(kind="python", name=record.python_minor, why=why), 0.88, Phase.RESOLVE)


def _wheel_for_python(artefact: Artefact, record: Record) -> bool:
    if not artefact.wheel:
        return True
    return wheel_fits(artefact, Target(record.python_minor, tuple(tag[2] for tag in artefact.tags)))


def _serves_native(release: Release, record: Record) -> bool:
    names = {tag[2] for artefact in release.artefacts for tag in artefact.tags}
    return any(same_arch(name.rsplit("_", maxsplit=1)[-1]) == record.native_arch for name in names)


def _last_for(record: Record, releases: tuple[Release, ...]) -> str:
    """Return the newest release that has something for the record's platform and Python."""
    for release in reversed(releases):
        if release.version.is_prerelease:
            continue
        for artefact in release.artefacts:
            if (
                artefact.wheel
                and any(_serves(tag[2], record) for tag in artefact.tags)
                and _wheel_for_python(artefact, record)
            ):
                return str(release.version)
    return ""


def _wrong_platform(record: Record, name: str, platform: str, tags: tuple[str, ...], last: str) -> Judgement:
    others = f"; its wheels are for {', '.join(tags[:6])}" if tags else ""
    why = f"{name} has no wheel for {platform} and no source archive{others}"
    if last:
        why += f"; the last release that has one is {last}"
        line = f"{name}=={last}"
        rest = tuple(text for text in record.requirements if not text.startswith(name))
        fix = Fix(requirements=(line, *rest), program=f"take {line}: {record.arch} is what this machine really is")
        facts = (f"machine and interpreter are {record.arch} ({'Intel' if record.arch == 'x86_64' else 'native'})",)
        return Judgement(Cause(kind="platform", name=platform, why=why), 0.9, Phase.RESOLVE, fix, facts=facts)
    other: Fix | None = None
    if record.facts.system == "Darwin" and record.arch == "arm64":
        other = Fix(
            python=f"cpython-{record.python_minor or '3.9'}-macos-x86_64",
            program="an x86_64 (Intel) Python under Rosetta can use the macOS x86_64 wheel; or another library",
        )
    return Judgement(
        Cause(kind="platform", name=platform, why=why), 0.88, Phase.RESOLVE, other, why, (f"machine: {record.arch}",)
    )


def _unfit_wheel(record: Record, filename: str) -> Judgement:
    name = canonicalize_name(filename.split("-", maxsplit=1)[0])
    parts = filename.rsplit("-", 3)
    tag = re.fullmatch(r"cp3(\d+)", parts[1])
    if tag and record.python_minor and f"3.{tag[1]}" != record.python_minor:
        why = f"the wheel is for Python 3.{tag[1]}; the interpreter is {record.python_minor}"
        return Judgement(
            Cause(kind="python", name=record.python_minor, why=why), 0.9, Phase.INSTALL, Fix(python=f"3.{tag[1]}")
        )
    if record.translated:
        why = f"the wheel is for {parts[3]}; the interpreter is {record.arch} and runs translated (Rosetta)"
        return Judgement(Cause(kind="python", name=record.arch, why=why), 0.88, Phase.INSTALL, native_python(record))
    why = f"the wheel is for {parts[3]}; this is {_platform(record)}"
    return Judgement(Cause(kind="platform", name=name, why=why), 0.85, Phase.INSTALL)
