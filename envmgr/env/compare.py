"""What was asked, what is locked, what is installed: the differences, as checks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import chain

from packaging.markers import InvalidMarker, Marker
from packaging.requirements import InvalidRequirement, Requirement
from packaging.tags import parse_tag
from packaging.utils import canonicalize_name

from envmgr.env.inspect import Inspection, Records
from envmgr.model.env import Check, InstalledDistribution
from envmgr.model.host import Interpreter
from envmgr.model.lock import LockedDistribution
from envmgr.model.platform import Platform

REBUILD = "build it again: `envmgr build NAME --again`"
"""Where NAME is the version set's, as its user calls it."""
_SHOWN = 20


def compare_with_asked(requirements: Iterable[str], inspection: Inspection) -> tuple[Check, ...]:
    """Return one check for each requirement of the manifest that holds for this interpreter."""
    checks = []
    for text in requirements:
        requirement = _parse(text)
        if requirement is None or not _applies(requirement, inspection.markers):
            continue
        found = inspection.resolved.get(canonicalize_name(requirement.name))
        good = found is not None and requirement.specifier.contains(found, prereleases=True)
        checks.append(
            Check(name="asked", passed=good, subject=text, wanted=text, found=found or "nothing", hint=_hint(good))
        )
    return tuple(checks)


def compare_with_lock(locked: Iterable[LockedDistribution], inspection: Inspection) -> tuple[Check, ...]:
    """Return the failing checks (missing, another version, not in the lock), or one that passed."""
    wanted = {
        str(canonicalize_name(each.name)): each.version
        for each in locked
        if _marker_holds(each.marker, inspection.markers)
    }
    found = inspection.resolved
    checks = []
    for name, version in sorted(wanted.items()):
        if found.get(name) != version:
            checks.append(_failed("locked", name, version, found.get(name, "nothing")))
    for name, version in sorted(found.items()):
        if name not in wanted:
            checks.append(_failed("locked", name, "nothing: the lock does not name it", version))
    return tuple(checks) or (_good("locked", f"{len(wanted)} distributions as locked"),)


def compare_with_requirements(inspection: Inspection, exempt: Collection[str] = ()) -> tuple[Check, ...]:
    """Return a failing check for each requirement of an installed distribution that is not met, or one that passed.

    `exempt` are distributions whose version the manifest overrides on purpose.
    """
    left_out = {canonicalize_name(name) for name in exempt}
    found = inspection.resolved
    checks = []
    for distribution in inspection.distributions:
        for text in distribution.requires:
            requirement = _parse(text)
            if requirement is None or not _applies(requirement, inspection.markers):
                continue
            name = canonicalize_name(requirement.name)
            if name in left_out:
                continue
            version = found.get(name)
            if version is None or not requirement.specifier.contains(version, prereleases=True):
                subject = f"{distribution.name} {distribution.version}"
                checks.append(
                    _failed("requires", subject, f"{requirement.name}{requirement.specifier}", version or "nothing")
                )
    return tuple(checks) or (_good("requires", f"{len(inspection.distributions)} distributions agree"),)


def compare_with_interpreter(inspection: Inspection, interpreter: Interpreter, platform: Platform) -> tuple[Check, ...]:
    """Return checks that the env's Python is the one it was built with, sees itself only, and can load every wheel."""
    same = inspection.version == interpreter.version
    checks = [
        Check(
            name="interpreter",
            passed=same,
            subject=interpreter.executable,
            wanted=f"{interpreter.implementation} {interpreter.version} ({interpreter.arch})",
            found=f"{inspection.version} ({inspection.machine})",
            hint="" if same else "the Python beneath the environment was replaced; build it again",
        )
    ]
    foreign = [
        place
        for place in inspection.import_path
        if (place and not place.startswith((inspection.prefix, inspection.base_prefix)))
        or (place.endswith(("site-packages", "dist-packages")) and not place.startswith(inspection.prefix))
    ]
    if foreign:
        checks.append(
            _failed("import path", "sys.path", "the environment and its standard library", ", ".join(foreign))
        )
    unfit = [
        _failed(
            "wheel",
            f"{each.name} {each.version}",
            f"a wheel for Python {inspection.version} on {platform}",
            " ".join(each.tags),
        )
        for each in inspection.distributions
        if not fits(each, interpreter.minor, platform)
    ]
    checks += unfit or [_good("wheel", f"every wheel is for Python {interpreter.minor} on {platform}")]
    return tuple(checks)


def compare_with_machine(interpreter: Interpreter, machine: str, *, native_serves: bool) -> Check:
    """Return whether the env's Python is of the machine's own architecture.

    A translated one is amiss only where a native one could serve the manifest: `native_serves`.
    """
    passed = not (interpreter.translated and native_serves)
    way = ", translated" if interpreter.translated else ""
    return Check(
        name="architecture",
        passed=passed,
        subject=interpreter.executable,
        wanted=f"a Python of this machine's own architecture, {machine}" if native_serves else "",
        found=f"{interpreter.arch}{way}",
        hint=""
        if passed
        else f"install a native Python {interpreter.minor}: `envmgr python install {interpreter.minor}`",
    )


def compare_records(records: Records, *, deep: bool) -> tuple[Check, ...]:
    """Return the failing checks on recorded files, or one that passed."""
    checks = [_failed("file", each.path, f"as {each.distribution} records it", "missing") for each in records.missing]
    checks += [_failed("file", each.path, f"as {each.distribution} records it", "changed") for each in records.changed]
    checks += [_failed("file", path, "a file of some distribution", "a file of none") for path in records.extra]
    checks += [
        _failed("owner", each.path, "one distribution that owns it", " and ".join(each.owners))
        for each in records.shared
    ]
    if len(checks) > _SHOWN:
        rest = len(checks) - _SHOWN
        checks = [*checks[:_SHOWN], _failed("file", f"{rest} more", "as recorded", "missing, changed or of nobody")]
    told = f"{records.checked} files have their recorded hash" if deep else "every recorded file is there"
    return tuple(checks) or (_good("file", told),)


def fits(distribution: InstalledDistribution, minor: str, platform: Platform) -> bool:
    """Tell whether a distribution's wheel can be loaded by a Python of that minor version and platform.

    A distribution without tags (built in place, installed by an old pip) is taken to fit.

    >>> torch = InstalledDistribution(name="torch", version="2.2", tags=("cp311-cp311-macosx_10_9_x86_64",))
    >>> fits(torch, "3.11", Platform.MACOS_X86_64), fits(torch, "3.11", Platform.MACOS_ARM64)
    (True, False)
    """
    try:
        tags = set(chain.from_iterable(parse_tag(tag) for tag in distribution.tags))
    except ValueError:
        return True
    return not tags or any(
        _python_fits(tag.interpreter, tag.abi, minor) and _platform_fits(tag.platform, platform) for tag in tags
    )


def _python_fits(interpreter: str, abi: str, minor: str) -> bool:
    major, _, number = minor.partition(".")
    if interpreter in {f"py{major}", f"py{major}{number}", f"cp{major}{number}"}:
        return True
    digits = interpreter[2:]
    if not digits.startswith(major) or not digits[1:].isdigit():
        return False
    older = int(digits[1:]) <= int(number)
    return older and (abi == "abi3" or (interpreter.startswith("py") and abi == "none"))


def _platform_fits(tag: str, platform: Platform) -> bool:
    if tag == "any":
        return True
    match platform.system:
        case "linux":
            return tag.startswith(("linux", "manylinux", "musllinux")) and tag.endswith(f"_{platform.arch}")
        case "macos":
            fat = {"x86_64": ("universal2", "universal", "intel"), "arm64": ("universal2",)}[platform.arch]
            return tag.startswith("macosx") and tag.endswith((f"_{platform.arch}", *(f"_{each}" for each in fat)))
        case _:
            return tag == "win_amd64"


def _applies(requirement: Requirement, markers: Mapping[str, str]) -> bool:
    return requirement.marker is None or requirement.marker.evaluate({**markers, "extra": ""})


def _marker_holds(marker: str | None, markers: Mapping[str, str]) -> bool:
    if not marker:
        return True
    try:
        return Marker(marker).evaluate({**markers, "extra": ""})
    except InvalidMarker:
        return True


def _parse(text: str) -> Requirement | None:
    """Old distributions carry requirements that no standard ever allowed; they bind nobody."""
    try:
        return Requirement(text)
    except InvalidRequirement:
        return None


def _failed(name: str, subject: str, wanted: str, found: str) -> Check:
    return Check(name=name, passed=False, subject=subject, wanted=wanted, found=found, hint=REBUILD)


def _good(name: str, found: str) -> Check:
    return Check(name=name, passed=True, found=found)


def _hint(good: bool) -> str:
    return "" if good else REBUILD
