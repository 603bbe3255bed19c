"""The line that is bisected: its points from the good end to the bad one, and the version set at each of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import NamedTuple

from packaging.version import Version

from envmgr.app.days import day_of
from envmgr.app.nightlies import Day, as_of, watched
from envmgr.diagnose.family import beside, companions
from envmgr.diagnose.releases import Release, Target, installable, of_version
from envmgr.diagnose.requirement import key_of, version_of, with_line
from envmgr.errors import HostError, UsageError
from envmgr.model.bisection import LeftOut, Point, SubjectKind
from envmgr.model.manifest import Manifest

_LISTED = 12


@dataclass(frozen=True, slots=True)
class Spot:
    """One point with the version set as it is there; `python` is the interpreter's minor or full version."""

    point: Point
    manifest: Manifest
    python: str


@dataclass(frozen=True, slots=True)
class Line:
    """The points from good to bad; `names` are the distributions whose source revisions tell points apart."""

    kind: SubjectKind
    subject: str
    spots: tuple[Spot, ...]
    names: tuple[str, ...] = ()
    family: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


@dataclass(frozen=True, slots=True)
class Ends:
    """What the user calls the good and the bad end."""

    good: str
    bad: str


@dataclass(frozen=True, slots=True)
class Shelves:
    """What releases there are, for which target, and which of them take part."""

    releases: Callable[[str], Sequence[Release]]
    target: Target
    early: bool = False
    sources: bool = False


def on_python(manifest: Manifest, python: str) -> Manifest:
    """Return a manifest for one Python, given by its minor or full version."""
    exact = f"=={python}" if python.count(".") > 1 else f"=={python}.*"
    return manifest.model_copy(update={"python": exact, "variants": None})


def package_line(manifest: Manifest, python: str, package: str, ends: Ends, shelves: Shelves) -> Line:
    """Return a package's releases between two of them, its family moved along.

    Raises UsageError for an end that is no release, HostError for one that cannot be had here.
    """
    name = key_of(package)
    releases = tuple(shelves.releases(name))
    if not releases:
        raise HostError(
            f"there are no releases of {package} to be had",
            "wanted a page of the index; found none, or no answer",
            "look at the name, the index's address and the network",
        )
    first, last = (_release_of(name, releases, end) for end in (ends.good, ends.bad))
    if first.version == last.version:
        raise UsageError("the two ends are one release", f"found {first.version}", "--good A --bad B")
    low, high = sorted((first.version, last.version))
    between = [each for each in releases if low <= each.version <= high]
    early = shelves.early or low.is_prerelease or high.is_prerelease
    between = [each for each in between if early or not each.version.is_prerelease]
    objections = {each.version: _objection(manifest, each, shelves) for each in between}
    for end in (first, last):
        objection = objections.pop(end.version)
        if objection is not None and not objection.can_be_had:
            why = objection.reason
            raise HostError(f"{package} {end.version} cannot be had here", why, "another end, or another Python")
    moving = companions(name, [key_of(line) for line in _asked(manifest)])
    spots = [_package_spot(manifest, python, name, each, moving, shelves) for each in between]
    if first.version > last.version:
        spots.reverse()
    return Line(
        kind="package",
        subject=name,
        spots=tuple(spot for spot in spots if objections.get(Version(spot.point.label)) is None),
        names=(name, *moving),
        family=tuple(moving),
        left_out=tuple(LeftOut(label=str(v), reason=each.reason) for v, each in objections.items() if each),
    )


def date_line(manifest: Manifest, python: str, ends: Ends) -> Line:
    """Return the days between two, each with the version set resolved as of it; raises UsageError."""
    first, last = day_of(ends.good), day_of(ends.bad)
    if first == last:
        raise UsageError("the two ends are one day", f"found {first}", "--good DATE --bad DATE")
    step = timedelta(days=1 if first < last else -1)
    days = [first + step * number for number in range(abs((last - first).days) + 1)]
    plain = on_python(manifest, python)
    spots = (
        Spot(Point(label=str(day), date=str(day)), plain.model_copy(update={"exclude_newer": day}), python)
        for day in days
    )
    return Line("date", "the day of resolution", tuple(spots))


def python_line(manifest: Manifest, ends: Ends, pythons: Sequence[str]) -> Line:
    """Return the Pythons that stand here between two of them; `pythons` are full versions."""
    known = sorted(dict.fromkeys(pythons), key=Version)
    first, last = (_python(known, end) for end in (ends.good, ends.bad))
    if first == last:
        raise UsageError("the two ends are one Python", f"found {first}", "--good 3.8 --bad 3.12")
    low, high = sorted((Version(first), Version(last)))
    between = [each for each in known if low <= Version(each) <= high]
    if Version(first) > Version(last):
        between.reverse()
    spots = (Spot(Point(label=each), on_python(manifest, each), each) for each in between)
    return Line("python", "Python", tuple(spots))


def nightly_line(manifest: Manifest, python: str, ends: Ends, days: Sequence[Day]) -> Line:
    """Return the days on which something that floats was built, between two; raises UsageError."""
    labels = [day.date for day in days]
    first, last = (_place_of_day(labels, day_of(end)) for end in (ends.good, ends.bad))
    if first == last:
        raise UsageError(
            "the two ends are one build", f"both mean that of {labels[first]}", f"days: {labels[0]} to {labels[-1]}"
        )
    chosen = days[first : last + 1] if first < last else tuple(reversed(days[last : first + 1]))
    plain = on_python(manifest, python)
    spots = (
        Spot(Point(label=day.date, date=day.date, versions=dict(day.versions)), as_of(plain, day), python)
        for day in chosen
    )
    names = watched(manifest)
    return Line("nightly", ", ".join(names), tuple(spots), names=names)


def _package_spot(
    manifest: Manifest, python: str, name: str, release: Release, moving: Mapping[str, str], shelves: Shelves
) -> Spot:
    versions = {name: str(release.version)}
    for other, how in moving.items():
        fitting = beside(how, release, shelves.releases(other), shelves.target)
        if fitting is not None:
            versions[other] = str(fitting.version)
    point = Point(label=str(release.version), date=release.uploaded, versions=versions)
    return Spot(point, _pinned(on_python(manifest, python), versions), python)


def _pinned(manifest: Manifest, versions: Mapping[str, str]) -> Manifest:
    """Return a manifest in which some distributions are pinned, whether they were asked for or not."""
    requirements, steps = manifest.requirements, manifest.step
    for name, version in versions.items():
        pin = f"{name}=={version}"
        if not steps:
            requirements = tuple(dict.fromkeys(with_line(requirements, pin)))
            continue
        holders = [each for each in steps if any(key_of(text) == name for text in each.install)] or [steps[-1]]
        steps = tuple(
            each.model_copy(update={"install": with_line(each.install, pin)}) if each in holders else each
            for each in steps
        )
    return manifest.model_copy(update={"requirements": requirements, "step": steps})


def _asked(manifest: Manifest) -> tuple[str, ...]:
    return (*manifest.requirements, *(text for step in manifest.step for text in step.install))


def _release_of(name: str, releases: Sequence[Release], text: str) -> Release:
    wanted = version_of(text)
    found = of_version(releases, text)
    if found is None and wanted is not None:
        found = next((each for each in releases if each.version.public == wanted.public), None)
    if found is None:
        near = [str(each.version) for each in releases if not each.version.is_prerelease]
        if wanted is not None:
            near = [str(each.version) for each in releases if each.version.release[:1] == wanted.release[:1]] or near
        raise UsageError(
            f"{text} is no release of {name}", f"there are: {', '.join(near[-_LISTED:])}", "--good A --bad B"
        )
    return found


class _Objection(NamedTuple):
    """Why a release needs not be tried; one that `can_be_had` is tried all the same where it is asked for by name."""

    reason: str
    can_be_had: bool = True


def _objection(manifest: Manifest, release: Release, shelves: Shelves) -> _Objection | None:
    """Return why a release needs not be tried, None if it has to be.

    A package that has wheels, only none that fits, is not built from its source unless that is asked for.
    """
    if release.yanked:
        return _Objection("withdrawn from the index")
    limit = manifest.exclude_newer
    if limit and release.uploaded and release.uploaded > str(limit):
        return _Objection(f"came out on {release.uploaded}, after exclude-newer {limit}")
    bare = shelves.sources or not any(artefact.wheel for artefact in release.artefacts)
    if not installable(release, shelves.target, sources=bare):
        return _Objection(f"no file for Python {shelves.target.python} on this platform", can_be_had=False)
    return None


def _place_of_day(labels: Sequence[str], day: date) -> int:
    places = [place for place, label in enumerate(labels) if label <= str(day)]
    if not places:
        raise UsageError(f"there is no build up to {day}", f"the oldest is of {labels[0]}", f"--good {labels[0]}")
    return places[-1]


def _python(known: Sequence[str], text: str) -> str:
    found = [each for each in known if each == text or each.startswith(f"{text}.")]
    if not found:
        listed = ", ".join(known)
        raise HostError(f"there is no Python {text} here", f"found: {listed}", f"envmgr python install {text}")
    return found[-1]
