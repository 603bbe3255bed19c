"""What an index tells of a distribution: versions, upload dates, yanks, which interpreters and systems they serve."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from html.parser import HTMLParser
from itertools import product
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from envmgr.diagnose.requirement import version_of


@dataclass(frozen=True, slots=True)
class Artefact:
    """One file of a release."""

    filename: str
    requires_python: str = ""
    yanked: bool = False
    size: int = 0

    @property
    def wheel(self) -> bool:
        """True for a wheel, False for a source archive."""
        return self.filename.endswith(".whl")

    @property
    def tags(self) -> frozenset[tuple[str, str, str]]:
        """The (interpreter, abi, platform) that a wheel's name tells; none of a source archive."""
        return _tags_of(self.filename) if self.wheel else frozenset()


@cache
def _tags_of(filename: str) -> frozenset[tuple[str, str, str]]:
    parts = filename.removesuffix(".whl").split("-")[-3:]
    return frozenset(product(*(part.split(".") for part in parts))) if len(parts) == 3 else frozenset()  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Release:
    """One version: when it was first uploaded (a date, empty where the index does not say) and what it consists of."""

    version: Version
    uploaded: str
    artefacts: tuple[Artefact, ...]

    @property
    def yanked(self) -> bool:
        """True when every file was withdrawn."""
        return all(artefact.yanked for artefact in self.artefacts)


@dataclass(frozen=True, slots=True)
class Target:
    """An interpreter on a system, as wheels name them: `3.8` and the platform tags, best first."""

    python: str
    platforms: tuple[str, ...]


def parse_page(text: str) -> tuple[Release, ...]:
    """Return the releases that an index page lists, oldest first, in JSON (PEP 691) or HTML (PEP 503).

    Files whose names tell no version are left out; a page that is none gives nothing.
    """
    found: dict[str, list[tuple[str, Artefact]]] = {}
    for file in _files_of(text):
        version = _version_in(str(file.get("filename", "")))
        if version:
            found.setdefault(version, []).append((str(file.get("upload-time") or "")[:10], _artefact(file)))
    releases: dict[Version, Release] = {}
    for text_of_version, entries in found.items():
        version_read = version_of(text_of_version)
        if version_read is None:
            continue
        before = releases.get(version_read)
        dates = sorted(
            [date for date, _ in entries if date] + ([before.uploaded] if before and before.uploaded else [])
        )
        artefacts = (*(before.artefacts if before else ()), *(artefact for _, artefact in entries))
        releases[version_read] = Release(version_read, dates[0] if dates else "", artefacts)
    return tuple(releases[version] for version in sorted(releases))


def _version_in(filename: str) -> str:
    """Return the version that a file's name tells, as it is written there; empty for what is no wheel or source."""
    if filename.endswith(".whl"):
        parts = filename.split("-")
        return parts[1] if len(parts) in {5, 6} else ""
    for ending in (".tar.gz", ".zip", ".tar.bz2"):
        if filename.endswith(ending):
            return filename.removesuffix(ending).rpartition("-")[2]
    return ""


def _files_of(text: str) -> list[dict[str, Any]]:
    if not text.lstrip().startswith("{"):
        page = _Page()
        page.feed(text)
        return page.files
    try:
        files = json.loads(text).get("files", [])
    except ValueError:
        return []
    return [file for file in files if isinstance(file, dict)] if isinstance(files, list) else []


class _Page(HTMLParser):
    """The files that an HTML page links to, as the JSON form would tell them."""

    def __init__(self) -> None:
        super().__init__()
        self.files: list[dict[str, Any]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = dict(attrs)
        if tag == "a" and told.get("href"):
            name = str(told["href"]).split("#", maxsplit=1)[0].rsplit("/", maxsplit=1)[-1]
            self.files.append(
                {
                    "filename": name.replace("%2B", "+"),
                    "requires-python": told.get("data-requires-python"),
                    "yanked": "data-yanked" in told,
                }
            )


def _artefact(file: dict[str, Any]) -> Artefact:
    size = file.get("size")
    return Artefact(
        filename=str(file.get("filename", "")),
        requires_python=str(file.get("requires-python") or ""),
        yanked=bool(file.get("yanked")),
        size=size if isinstance(size, int) else 0,
    )


def python_fits(artefact: Artefact, python: str) -> bool:
    """Tell whether a file's own words (`Requires-Python`) admit the Python."""
    return not artefact.requires_python or _admits(artefact.requires_python, python)


@cache
def _admits(specifier: str, python: str) -> bool:
    try:
        return SpecifierSet(specifier).contains(f"{python}.99" if python.count(".") == 1 else python)
    except InvalidSpecifier:
        return True


def wheel_fits(artefact: Artefact, target: Target) -> bool:
    """Tell whether a wheel can be installed there."""
    return python_fits(artefact, target.python) and any(
        _interpreter_fits(interpreter, abi, target.python) and (system == "any" or system in target.platforms)
        for interpreter, abi, system in artefact.tags
    )


def _interpreter_fits(interpreter: str, abi: str, python: str) -> bool:
    digits = python.replace(".", "")
    if abi == "abi3" and interpreter.startswith("cp3"):
        return interpreter[3:].isdigit() and int(interpreter[3:]) <= int(digits[1:])
    if interpreter.startswith("py"):
        number = interpreter[2:]
        return abi == "none" and (
            number == "3" or (number[:1] == "3" and number[1:].isdigit() and int(number[1:]) <= int(digits[1:]))
        )
    return interpreter == f"cp{digits}" and (abi == "none" or abi.rstrip("mu") == f"cp{digits}")


def installable(release: Release, target: Target, *, sources: bool) -> bool:
    """Tell whether a release has a wheel for the target or, with `sources`, a source archive that admits its Python."""
    return any(
        wheel_fits(artefact, target) if artefact.wheel else sources and python_fits(artefact, target.python)
        for artefact in release.artefacts
        if not artefact.yanked
    )


def of_version(releases: Iterable[Release], version: str) -> Release | None:
    """Return the release of one version; a local label (`+cpu`) is no part of what an index calls a version."""
    try:
        wanted = Version(version)
    except InvalidVersion:
        return None
    public = Version(wanted.public)
    return next((release for release in releases if release.version in (wanted, public)), None)


def stable(releases: Sequence[Release]) -> tuple[Release, ...]:
    """Return the releases that are neither pre-releases nor withdrawn, or all if there are only such."""
    kept = tuple(release for release in releases if not release.version.is_prerelease and not release.yanked)
    return kept or tuple(releases)


def up_to(releases: Sequence[Release], day: str) -> tuple[Release, ...]:
    """Return the stable releases that were out on a day (`2020-07-27`)."""
    return tuple(release for release in stable(releases) if release.uploaded and release.uploaded <= day)


def series_between(releases: Sequence[Release]) -> list[Release]:
    """Return the ends and the first release of each major series between them, in the order given."""
    firsts: dict[int, Release] = {}
    for release in releases:
        firsts.setdefault(release.version.major, release)
    kept = {
        releases[0].version: releases[0],
        **{r.version: r for r in firsts.values()},
        releases[-1].version: releases[-1],
    }
    falling = releases[0].version > releases[-1].version
    return [kept[version] for version in sorted(kept, reverse=falling)]
