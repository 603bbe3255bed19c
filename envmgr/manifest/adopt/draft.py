"""A manifest that is being made out of another file."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

from envmgr.errors import UsageError

ANY_PYTHON = ">=3.8"
"""What a draft asks for when its file says nothing of Python."""

_MINOR = re.compile(r"3\.\d+")
_MINORS = range(5, 21)
_PREFIX_OF_RANGE = re.compile(r"(>=|<)(\s*\d[\d.]*)\.\*")
_BUILT_BY_CONDA = re.compile(r"file://.*(/croots?/|feedstock_root|/conda-bld/|/abs_\w+/|/ci_?\d*/\w+_\d{10})")
_NO_DISTRIBUTIONS = {"pkg-resources": "Debian's pip lists it, and no index has it"}


@dataclass(frozen=True, slots=True)
class DraftIndex:
    """An index of its own with the packages that it serves."""

    name: str
    url: str
    packages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Draft:
    """What a file says, in a manifest's words; `notes` tell what it says that a manifest cannot.

    `name` is empty where the file names nothing. `constraints` limit what is asked for by anybody, `overrides` take the
    place of what others ask for; `exclude_newer` is a day, or empty.
    """

    requirements: tuple[str, ...]
    name: str = ""
    python: str = ANY_PYTHON
    pythons: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    overrides: tuple[str, ...] = ()
    build_constraints: tuple[str, ...] = ()
    build_requires: dict[str, tuple[str, ...]] = field(default_factory=dict)
    exclude_newer: str = ""
    indexes: tuple[DraftIndex, ...] = ()
    variables: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def without_credentials(url: str) -> str:
    """Return an address without the user and the password in it: neither belongs in a manifest.

    >>> without_credentials("https://ann:pw@own.example/simple")
    'https://own.example/simple'
    """
    return re.sub(r"(?<=://)[^/\s@]+@", "", url)


def groups_left(names: Iterable[str]) -> tuple[str, ...]:
    """Return the note on extras and groups that are not installed."""
    listed = ", ".join(dict.fromkeys(names))
    return (f"not taken over: the extras and groups {listed} (--with NAME does)",) if listed else ()


def with_all_notes(drafts: Iterable[Draft]) -> tuple[Draft, ...]:
    """Return the drafts that ask for something; what was to be told of the others is told with the first of them."""
    told = tuple(drafts)
    kept = [draft for draft in told if draft.requirements] or list(told[:1])
    notes = [note for draft in told if draft not in kept for note in draft.notes]
    return (*(replace(draft, notes=(*draft.notes, *notes)) for draft in kept[:1]), *kept[1:])


def settle(texts: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the requirements that a lock can hold, each once in its order, and notes on those that it cannot."""
    kept: dict[str, None] = {}
    notes: list[str] = []
    for written in texts:
        text = _PREFIX_OF_RANGE.sub(r"\1\2", written)
        try:
            requirement = Requirement(text)
        except InvalidRequirement as error:
            reason = str(error).partition("\n")[0]
            notes.append(
                f"left out: {without_credentials(text)!r} is no requirement that an index can serve ({reason})"
            )
            continue
        if requirement.url:
            text, note = _of_address(requirement)
            notes.append(note)
            if text:
                kept[text] = None
            continue
        if canonicalize_name(requirement.name) in _NO_DISTRIBUTIONS:
            notes.append(f"left out: {text} ({_NO_DISTRIBUTIONS[canonicalize_name(requirement.name)]})")
            continue
        if "+" in str(requirement.specifier):
            notes.append(f"{text} has a local version, which only an index of its own has: name that under [[index]]")
        kept[text] = None
    return tuple(kept), tuple(notes)


def _of_address(requirement: Requirement) -> tuple[str, str]:
    """Return what stands for a requirement by address, "" for nothing, and the note on it.

    What conda has built comes from a folder of the machine that built it: an index has the same distribution, and the
    version is known where the name of a wheel tells it.

    >>> _of_address(Requirement("numpy @ file:///croot/dist/numpy-1.24.4-cp310-cp310-linux_x86_64.whl#sha256=ab"))[0]
    'numpy==1.24.4'
    """
    name, address = requirement.name, requirement.url or ""
    if not _BUILT_BY_CONDA.match(address):
        return "", f"left out: {name} is asked for by address, and a lock names versions and hashes"
    try:
        version = parse_wheel_filename(address.partition("#")[0].rpartition("/")[2])[1]
    except InvalidWheelFilename:
        told = "its version does not stand there (`pip list --format=freeze` tells it): any is taken"
        return name, f"{name} is asked for by the folder in which conda built it, and {told}"
    return f"{name}=={version}", f"{name} is asked for by the wheel that conda built: {version} of the index is taken"


def limited(draft: Draft) -> Draft:
    """Return a draft without constraints: those on its own requirements are put into them, the others override."""
    limits: dict[str, list[Requirement]] = {}
    for text in draft.constraints:
        limits.setdefault(canonicalize_name(Requirement(text).name), []).append(Requirement(text))
    requirements: list[str] = []
    for text in draft.requirements:
        requirement = Requirement(text)
        own = limits.pop(canonicalize_name(requirement.name), [])
        for limit in own:
            requirement.specifier &= limit.specifier if limit.marker is None else SpecifierSet()
        changed = requirement.specifier != Requirement(text).specifier
        requirements.append(str(requirement) if changed else text)
        requirements += [str(limit) for limit in own if limit.marker is not None]
    rest = [str(limit) for each in limits.values() for limit in each]
    return replace(draft, requirements=tuple(requirements), constraints=(), overrides=(*draft.overrides, *rest))


def python_range(text: str) -> str:
    """Return a specifier of Python as a manifest has it; raises UsageError for one that is none.

    Of several ranges it is the span.

    >>> python_range("^3.8"), python_range("3.9"), python_range(">=3.8, <3.11"), python_range("~3.7 || ^3.10")
    ('>=3.8,<4', '==3.9.*', '>=3.8,<3.11', '>=3.7')
    >>> python_range("3") == python_range("3.*") == ANY_PYTHON
    True
    """
    if "||" in text:
        return _span(python_range(part) for part in text.split("||"))
    bare = text.strip()
    if bare in {"", "*", "3", "3.*"}:
        return ANY_PYTHON
    if bare.startswith("~") and not bare.startswith("~="):
        minor = ".".join(bare[1:].split(".")[:2])
        return f"=={minor}.*" if bare[1:] == minor else f">={bare[1:]},=={minor}.*"
    if bare.startswith("^"):
        return f">={bare[1:]},<4"
    if _MINOR.fullmatch(bare):
        return f"=={bare}.*"
    try:
        SpecifierSet(bare)
    except InvalidSpecifier:
        raise UsageError(f"{text!r} names no range of Pythons", "wanted PEP 440, as >=3.8,<3.11", "") from None
    return bare.replace(" ", "") or ANY_PYTHON


def _span(ranges: Iterable[str]) -> str:
    specifiers = [SpecifierSet(each) for each in ranges]
    held = [minor for minor in _MINORS if any(each.contains(f"3.{minor}.99") for each in specifiers)]
    if not held:
        return ANY_PYTHON
    return f">=3.{held[0]}" + (f",<3.{held[-1] + 1}" if held[-1] != _MINORS[-1] else "")


def python_of_many(pythons: Iterable[str]) -> tuple[str, tuple[str, ...]]:
    """Return the specifier that spans some minor versions, and the versions themselves, in their order, each once.

    >>> python_of_many(["3.8", "3.10"])
    ('>=3.8,<3.11', ('3.8', '3.10'))
    """
    minors = tuple(dict.fromkeys(each for each in pythons if _MINOR.fullmatch(each)))
    if not minors:
        return ANY_PYTHON, ()
    numbers = sorted(int(each.partition(".")[2]) for each in minors)
    if len(minors) == 1:
        return f"=={minors[0]}.*", ()
    return f">=3.{numbers[0]},<3.{numbers[-1] + 1}", minors


def minor_of(text: str) -> str:
    """Return the minor version in a factor, a name or a command of Python, "" where there is none.

    >>> minor_of("py310"), minor_of("python3.9"), minor_of("3.8.18"), minor_of("lint")
    ('3.10', '3.9', '3.8', '')
    """
    found = re.fullmatch(r"(?:py|python|cpython-?)?3\.?(\d{1,2})(?:\.\d+)?t?", text.strip())
    return f"3.{found[1]}" if found else ""
