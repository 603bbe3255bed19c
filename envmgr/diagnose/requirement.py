"""Requirement lines as people write them, read without complaint and changed without losing what they say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from packaging.markers import InvalidMarker, Marker
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

_LINE = re.compile(
    r"\s*(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[(?P<extras>[^\]]*)\])?\s*"
    r"(?:@\s*(?P<url>\S+)|\(?(?P<specifier>(?:[<>=!~][^;()]*)?)\)?)\s*(?:;\s*(?P<marker>.+?))?\s*$"
)


@dataclass(frozen=True, slots=True)
class Line:
    """One requirement in its parts; `name` is as it was typed."""

    name: str
    extras: tuple[str, ...] = ()
    specifier: str = ""
    url: str = ""
    marker: str = ""

    @property
    def key(self) -> str:
        """The normalised name."""
        return canonicalize_name(self.name)

    @property
    def pin(self) -> str:
        """The one version asked for, or empty."""
        match = re.fullmatch(r"\s*={2,3}\s*([^\s,*]+)\s*", self.specifier)
        return match[1] if match else ""

    def text(self) -> str:
        """Return the line again."""
        extras = f"[{','.join(self.extras)}]" if self.extras else ""
        rest = f" @ {self.url}" if self.url else self.specifier
        marker = f"{' ' if self.url else ''}; {self.marker}" if self.marker else ""
        return f"{self.name}{extras}{rest}{marker}"

    def admits(self, version: str) -> bool:
        """Tell whether a version meets the specifier; what cannot be read admits nothing."""
        try:
            return SpecifierSet(self.specifier).contains(Version(version), prereleases=True)
        except (InvalidSpecifier, InvalidVersion):
            return False

    def applies(self, python: str) -> bool:
        """Tell whether the marker holds for a Python of that minor version on this system."""
        if not self.marker:
            return True
        try:
            return Marker(self.marker).evaluate({"python_version": python, "python_full_version": f"{python}.0"})
        except (InvalidMarker, ValueError):
            return True


def read_line(text: str) -> Line | None:
    """Return a requirement in its parts, or None for what is not one (an option, a path, a bare address)."""
    match = _LINE.match(text)
    if match is None:
        return None
    extras = tuple(part.strip() for part in (match["extras"] or "").split(",") if part.strip())
    specifier = re.sub(r"\s+", "", match["specifier"] or "")
    return Line(match["name"], extras, specifier, match["url"] or "", (match["marker"] or "").strip())


def key_of(text: str) -> str:
    """Return the normalised name that a requirement line asks for, or the line itself."""
    line = read_line(text)
    return line.key if line else text.strip()


def pins(lines: Iterable[str]) -> dict[str, str]:
    """Return the exact versions that requirement lines ask for, by normalised name."""
    read = (read_line(text) for text in lines)
    return {line.key: line.pin for line in read if line is not None and line.pin}


def with_line(lines: Sequence[str], new: str) -> tuple[str, ...]:
    """Return the lines with one put in the place of the line for the same distribution, or at the end.

    A line that names no extras keeps those that were asked for.
    """
    key = key_of(new)
    if any(key_of(text) == key for text in lines):
        return tuple(_in_place_of(text, new) if key_of(text) == key else text for text in lines)
    return (*lines, new)


def _in_place_of(old: str, new: str) -> str:
    before, after = read_line(old), read_line(new)
    if before is None or after is None or not before.extras or after.extras:
        return new
    return replace(after, extras=before.extras).text()


def without(lines: Sequence[str], key: str) -> tuple[str, ...]:
    """Return the lines that do not ask for one distribution."""
    return tuple(text for text in lines if key_of(text) != key)


def version_of(text: str) -> Version | None:
    """Return a version that can be compared, or None."""
    try:
        return Version(text)
    except InvalidVersion:
        return None
