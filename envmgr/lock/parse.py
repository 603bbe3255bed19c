"""Reads a lock from its text; `envmgr.lock.render` writes it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import NoReturn

from packaging.markers import InvalidMarker, Marker
from packaging.version import InvalidVersion, Version

from envmgr.errors import LockError
from envmgr.lock.form import BUILDS, HEAD, REQUIRED, SCHEMA, SCHEMA_KEY
from envmgr.model.lock import Lock, LockedDistribution
from envmgr.model.platform import Platform

_HEAD_LINE = re.compile(r"# (?P<key>[a-z][a-z-]*): (?P<value>.*)")
_PIN = re.compile(r"(?P<name>[a-z0-9]+(?:-[a-z0-9]+)*)==(?P<version>[^\s;]+)(?: ; (?P<marker>.+))?")
_HASH = re.compile(r"--hash=(?P<hash>[^\s]+)(?:  # (?P<notes>.+))?")
_SHA256 = re.compile(r"sha256:[0-9a-f]{64}")
_BYTES = re.compile(r"[1-9][0-9]{0,14}")
_PYTHON = re.compile(r"3\.\d+")


def parse(text: str, source: str) -> Lock:
    """Return the lock that a text holds; a LockError names file and line of what is amiss."""
    return _Reader(text, source).read()


@dataclass(slots=True)
class _Pin:
    """A distribution while its lines are read."""

    line: int
    name: str
    version: str
    marker: str | None
    hashes: list[str] = field(default_factory=list)
    index: str | None = None
    source: bool = False


class _Reader:
    """Goes through a lock line by line, once."""

    def __init__(self, text: str, source: str) -> None:
        self._lines = text.replace("\r\n", "\n").split("\n")
        self._source = source
        self._head: dict[str, tuple[int, str]] = {}
        self._distributions: dict[str, _Pin] = {}
        self._builds: dict[str, _Pin] = {}

    def read(self) -> Lock:
        body = self._read_head()
        section = self._distributions
        pin: _Pin | None = None
        for number, written in enumerate(self._lines[body:], start=body + 1):
            line = written
            if line == BUILDS:
                section, pin = self._builds, None
                continue
            if section is self._builds:
                line = line.removeprefix("#").removeprefix(" ")
            elif line.startswith("#"):
                continue
            if not line.strip():
                continue
            if line.startswith(" "):
                self._read_hash(number, line, pin)
            else:
                pin = self._read_pin(number, line, section)
        return self._lock()

    def _fail(self, line: int, what: str, why: str = "") -> NoReturn:
        named = self._head.get("manifest")
        hint = f"Make it anew: envmgr lock {named[1]}" if named else "Make it anew with envmgr lock."
        raise LockError(f"{self._source}:{line}: {what}", why, hint)

    def _read_head(self) -> int:
        for number, line in enumerate(self._lines, start=1):
            if not line.strip():
                break
            found = _HEAD_LINE.fullmatch(line)
            if number == 1 and (found is None or found["key"] != SCHEMA_KEY):
                self._fail(1, "this is not a lock of envmgr", f"wanted '# {SCHEMA_KEY}: {SCHEMA}', found '{line[:60]}'")
            if found is None:
                self._fail(number, "not a line of a lock's head", f"wanted '# key: value', found '{line[:60]}'")
            key, value = found["key"], found["value"]
            if key == SCHEMA_KEY and value != str(SCHEMA):
                self._fail(number, "this lock has another form", f"wanted {SCHEMA_KEY} {SCHEMA}, found {value}")
            if key not in HEAD:
                self._fail(number, f"unknown key '{key}'", f"known: {', '.join(HEAD)}")
            if key in self._head:
                self._fail(number, f"the key '{key}' stands twice", f"it stands in line {self._head[key][0]} too")
            self._head[key] = (number, value)
        if not self._head:
            self._fail(1, "the lock is empty")
        missing = [key for key in REQUIRED if key not in self._head]
        if missing:
            self._fail(len(self._head), f"the head lacks {', '.join(missing)}")
        return len(self._head)

    def _read_pin(self, number: int, line: str, section: dict[str, _Pin]) -> _Pin:
        found = _PIN.fullmatch(line.removesuffix(" \\"))
        if found is None:
            self._fail(number, "not a pin", f"wanted 'name==version \\', found '{line[:60]}'")
        try:
            Version(found["version"])
        except InvalidVersion:
            self._fail(number, f"not a version: '{found['version']}'")
        try:
            Marker(found["marker"] or "python_version > '0'")
        except InvalidMarker:
            self._fail(number, f"not an environment marker: '{found['marker']}'")
        pin = _Pin(number, found["name"], found["version"], found["marker"])
        first = section.get(pin.name)
        if first is not None:
            self._fail(number, f"{pin.name} stands twice", f"{first.version} in line {first.line}, and {pin.version}")
        if not line.endswith(" \\"):
            self._fail(number, f"{pin.name} has no hash", "wanted ' \\' and a line with --hash=sha256:…")
        section[pin.name] = pin
        return pin

    def _read_hash(self, number: int, line: str, pin: _Pin | None) -> None:
        found = _HASH.fullmatch(line.strip().removesuffix(" \\"))
        if pin is None or found is None:
            self._fail(number, "not a hash of a pin", f"wanted '    --hash=sha256:…', found '{line.strip()[:60]}'")
        if not _SHA256.fullmatch(found["hash"]):
            self._fail(
                number,
                f"bad hash of {pin.name}",
                f"wanted sha256: and 64 hexadecimal digits, found '{found['hash'][:80]}'",
            )
        pin.hashes.append(found["hash"])
        for note in (found["notes"] or "").split(", "):
            key, _, value = note.partition(" ")
            if key == "index" and value:
                pin.index = value
            elif note == "source":
                pin.source = True
            elif note:
                self._fail(number, f"unknown note '{note}' on {pin.name}", "known: index NAME, source")

    def _value(self, key: str) -> str:
        return self._head[key][1] if key in self._head else ""

    def _lock(self) -> Lock:
        return Lock(
            manifest=self._value("manifest"),
            variant=self._value("variant"),
            platform=self._platform(),
            python=self._matching("python", _PYTHON, "a minor version such as 3.8"),
            inputs=self._matching("inputs", _SHA256, "sha256: and 64 hexadecimal digits"),
            indexes=tuple(name for name in self._value("indexes").split(", ") if name),
            exclude_newer=self._date(),
            uv=self._value("uv"),
            minimum=self._value("minimum"),
            download=int(self._matching("download", _BYTES, "a number of bytes")) if "download" in self._head else 0,
            distributions=self._locked(self._distributions),
            builds=self._locked(self._builds),
        )

    def _locked(self, section: Mapping[str, _Pin]) -> tuple[LockedDistribution, ...]:
        for pin in section.values():
            if not pin.hashes:
                self._fail(pin.line, f"{pin.name} has no hash", "wanted a line with --hash=sha256:… below it")
        return tuple(
            LockedDistribution(
                name=pin.name,
                version=pin.version,
                hashes=tuple(sorted(pin.hashes)),
                marker=pin.marker,
                index=pin.index,
                source=pin.source,
            )
            for pin in section.values()
        )

    def _matching(self, key: str, pattern: re.Pattern[str], wanted: str) -> str:
        line, value = self._head[key]
        if not pattern.fullmatch(value):
            self._fail(line, f"bad {key}", f"wanted {wanted}, found '{value}'")
        return value

    def _platform(self) -> Platform:
        line, value = self._head["platform"]
        try:
            return Platform(value)
        except ValueError:
            self._fail(line, f"unknown platform '{value}'", f"known: {', '.join(Platform)}")

    def _date(self) -> date | None:
        if "exclude-newer" not in self._head:
            return None
        line, value = self._head["exclude-newer"]
        try:
            return date.fromisoformat(value)
        except ValueError:
            self._fail(line, "bad exclude-newer", f"wanted a date such as 2019-06-01, found '{value}'")
