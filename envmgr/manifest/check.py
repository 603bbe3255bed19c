"""Checks what a manifest or a matrix means, and that a collection of them fits together."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import PurePosixPath

from envmgr.errors import ManifestError, UsageError
from envmgr.manifest.expand import select
from envmgr.manifest.faults import Fault, manifest_error, suggest
from envmgr.manifest.rules import expectations, indexes, packages, places, steps, versions, walls
from envmgr.model.manifest import Manifest, Matrix


def check_manifest(
    manifest: Manifest, *, text: str, source: str, runners: Collection[str], backends: Collection[str]
) -> None:
    """Raise a ManifestError that tells everything which makes no sense in a manifest."""
    faults = [
        *_name(manifest, source),
        *versions(manifest),
        *packages(manifest),
        *steps(manifest),
        *indexes(manifest),
        *walls(manifest),
        *places(manifest),
        *_measured(manifest, runners, backends),
        *expectations(manifest, runners),
    ]
    if faults:
        raise manifest_error(source, text, faults)


def check_matrix(
    matrix: Matrix, *, text: str, source: str, runners: Collection[str], manifests: Mapping[str, Manifest]
) -> None:
    """Raise a ManifestError that tells every manifest and runner which a matrix names and nobody has."""
    faults = [*_name(matrix, source)]
    for key, names in (("manifests", matrix.manifests), ("reference", matrix.reference)):
        faults += [fault for number, name in enumerate(names) for fault in _selected((key, number), name, manifests)]
    for number, entry in enumerate(matrix.entry):
        if entry.runner not in runners:
            unknown = f"unknown runner '{entry.runner}'"
            faults.append(Fault(("entry", number, "runner"), unknown, suggest(entry.runner, runners)))
        for place, name in enumerate(entry.manifests):
            faults += _selected(("entry", number, "manifests", place), name, manifests)
    if faults:
        raise manifest_error(source, text, faults)


def check_collection(manifests: Collection[tuple[str, Manifest]]) -> None:
    """Raise a ManifestError if two of the manifests, each given with its file, bear one name.

    Names that differ in case only are one: some file systems cannot hold both.
    """
    sources: dict[str, str] = {}
    for source, manifest in manifests:
        first = sources.setdefault(manifest.name.casefold(), source)
        if first != source:
            raise same_name(manifest.name, first, source)


def same_name(name: str, first: str, second: str) -> ManifestError:
    """Return the error of two files whose manifests bear one name."""
    return ManifestError(
        f"two manifests are called '{name}'", f"found in {first} and in {second}", "Rename one of them, file and name."
    )


def _name(noun: Manifest | Matrix, source: str) -> Iterator[Fault]:
    stem = PurePosixPath(source.replace("\\", "/")).stem
    if noun.name != stem:
        yield Fault(
            ("name",),
            "the name is not the file's",
            f"wanted '{stem}', found '{noun.name}'",
            "Rename the one or the other.",
        )


def _measured(manifest: Manifest, runners: Collection[str], backends: Collection[str]) -> Iterator[Fault]:
    if manifest.backend is not None and manifest.backend not in backends:
        yield Fault(("backend",), f"unknown backend '{manifest.backend}'", suggest(manifest.backend, backends))
    for number, runner in enumerate(manifest.runners):
        if runner not in runners:
            yield Fault(("runners", number), f"unknown runner '{runner}'", suggest(runner, runners))


def _selected(key: tuple[str | int, ...], name: str, manifests: Mapping[str, Manifest]) -> Iterator[Fault]:
    try:
        select([name], manifests)
    except UsageError as error:
        yield Fault(key, error.what, error.why, error.hint)
