"""What differs between two sides, ordered by what can matter first: pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from envmgr.diagnose.knowledge import families, settings
from envmgr.diagnose.requirement import version_of
from envmgr.diagnose.steering import steers_libraries, steers_loading
from envmgr.model.difference import Difference, DifferenceKind, Differences, Portrait

_PARTS = (
    "interpreter", "platform", "distributions", "artefacts", "contents", "variables", "devices", "parameters", "host"
)  # fmt: skip
_BASE = {"implementation", "minor", "arch", "translated", "abi flags", "system site-packages"}
_OF_HOST = ("system", "machine", "libc", "os version", "accelerator", "driver", "processor feature")
_TELLING = 60


class _Ranked(NamedTuple):
    rank: int
    difference: Difference


def compare(first: Portrait, second: Portrait) -> Differences:
    """Return what differs between two sides, as far as both tell of it."""
    found = sorted(_ranked(first, second), key=lambda each: (each.rank, each.difference.kind, each.difference.name))
    both = [part for part in _PARTS if getattr(first, part) is not None and getattr(second, part) is not None]
    one = [part for part in _PARTS if (getattr(first, part) is None) != (getattr(second, part) is None)]
    scope = first.scope if first.scope == second.scope else f"{first.scope} | {second.scope}".strip(" |")
    return Differences(
        first=first.label,
        second=second.label,
        differences=tuple(
            each.difference.model_copy(update={"scope": scope, "telling": each.rank < _TELLING}) for each in found
        ),
        compared=tuple(both),
        not_compared=tuple(f"{part}: only {(second if getattr(first, part) is None else first).label}" for part in one),
    )


def _ranked(first: Portrait, second: Portrait) -> Iterator[_Ranked]:
    yield from _interpreter(first, second)
    if first.platform and second.platform and first.platform != second.platform:
        why = "other wheels are installed for another platform"
        yield _of(10, "platform", "platform", first.platform, second.platform, why)
    yield from _distributions(first, second)
    yield from _artefacts(first, second)
    yield from _contents(first, second)
    for name, one, other in _apart(first.variables, second.variables):
        steers = name in settings() or steers_loading(name) or steers_libraries(name)
        why = "it steers what is imported or which backend computes" if steers else ""
        yield _of(15 if steers else 70, "variable", name, one, other, why)
    for name, one, other in _apart(first.devices, second.devices):
        yield _of(35, "device", name, one, other, "what is computed on")
    for name, one, other in _apart(first.parameters, second.parameters):
        yield _of(30, "parameter", name, one, other, "what is measured")
    for name, one, other in _apart(first.host, second.host):
        rank = next((at for at, word in enumerate(_OF_HOST) if name.startswith(word)), None)
        why = "" if rank is None else "what an environment stands on"
        yield _of(75 if rank is None else 50 + rank, "host", name, one, other, why)


def _interpreter(first: Portrait, second: Portrait) -> Iterator[_Ranked]:
    one, other = first.interpreter or {}, second.interpreter or {}
    for name in sorted(one.keys() & other.keys()):
        if one[name] == other[name]:
            continue
        base = name in _BASE
        why = "compiled extensions and the standard library are those of one Python" if base else ""
        yield _of(5 if base else 55, "interpreter", name, one[name], other[name], why)


def _distributions(first: Portrait, second: Portrait) -> Iterator[_Ranked]:
    if first.distributions is None or second.distributions is None:
        return
    sides = [_split_families(versions) for versions in (first.distributions, second.distributions)]
    split = {name: "; ".join(sorted({side[name] for side in sides if name in side})) for side in sides for name in side}
    suspects, asked = {*first.suspects, *second.suspects}, {*first.asked, *second.asked}
    for name, one, other in _apart(first.distributions, second.distributions):
        rank, why = _weight(one, other)
        if name in split:
            rank, why = 8, split[name]
        elif name in suspects:
            rank, why = 12, "what failed, failed in it"
        elif name in asked and rank < _TELLING:
            rank -= 10
        yield _of(rank, "distribution", name, one, other, why)


def _split_families(versions: Mapping[str, str]) -> dict[str, str]:
    """Return the members of families that stand at several versions, with why that matters."""
    found = {}
    for how, members, why in families():
        there = sorted(members & versions.keys())
        if how == "same_version" and len({versions[name] for name in there}) > 1:
            told = ", ".join(f"{name} {versions[name]}" for name in there)
            found.update(dict.fromkeys(there, f"{told} stand together: {why}"))
    return found


def _weight(one: str, other: str) -> tuple[int, str]:
    """Return how much a change of version can matter, the less the more, and in which way."""
    if not one or not other:
        return 40, "only one of them has it"
    first, second = version_of(one), version_of(other)
    if first is None or second is None:
        return 45, ""
    if first.release[:1] != second.release[:1]:
        return 42, "another major version"
    if first.release[:2] != second.release[:2]:
        return 50, "another minor version"
    if first.public == second.public:
        return 44, "another build of one version"
    return 62, ""


def _artefacts(first: Portrait, second: Portrait) -> Iterator[_Ranked]:
    """Yield locked distributions of one version that no artefact serves on both sides."""
    ones, others = first.artefacts or {}, second.artefacts or {}
    for name in sorted(ones.keys() & others.keys()):
        same_version = (first.distributions or {}).get(name) == (second.distributions or {}).get(name)
        if not same_version or set(ones[name]) & set(others[name]):
            continue
        yield _of(46, "artefact", name, _told(ones[name]), _told(others[name]), "one version, other files")


def _contents(first: Portrait, second: Portrait) -> Iterator[_Ranked]:
    for name, one, other in _apart(first.contents, second.contents):
        same_version = (first.distributions or {}).get(name) == (second.distributions or {}).get(name)
        if one and other and same_version:
            yield _of(46, "content", name, one, other, "one version, other files")


def _apart(first: Mapping[str, str] | None, second: Mapping[str, str] | None) -> Iterator[tuple[str, str, str]]:
    if first is None or second is None:
        return
    for name in sorted(first.keys() | second.keys()):
        if first.get(name, "") != second.get(name, ""):
            yield name, first.get(name, ""), second.get(name, "")


def _of(rank: int, kind: DifferenceKind, name: str, first: str, second: str, why: str = "") -> _Ranked:
    return _Ranked(rank, Difference(kind=kind, name=name, first=first, second=second, why=why))


def _told(hashes: Iterable[str]) -> str:
    return " ".join(sorted(hashes))


def merged(first: str, second: str, found: Iterable[Differences], others: Iterable[Difference] = ()) -> Differences:
    """Return several comparisons between two sides as one, the most telling first.

    What differs in the same way in several version sets is told once, with all their names.
    """
    parts = tuple(found)
    every = [*others, *(each for part in parts for each in part.differences)]
    every.sort(key=lambda each: not each.telling)
    by_key: dict[tuple[str, ...], Difference] = {}
    for each in every:
        key = (each.kind, each.name, each.first, each.second)
        before = by_key.get(key)
        scope = ", ".join(filter(None, dict.fromkeys((before.scope if before else "", each.scope))))
        by_key[key] = (before or each).model_copy(update={"scope": scope})
    return Differences(
        first=first,
        second=second,
        differences=tuple(by_key.values()),
        compared=tuple(dict.fromkeys(name for part in parts for name in part.compared)),
        not_compared=tuple(dict.fromkeys(name for part in parts for name in part.not_compared)),
    )
