"""Bundles: one file with all that a version set needs to be built and measured where there is no network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import tomlkit
from pydantic import Field, ValidationError

from envmgr.app.exporting import platform_for
from envmgr.app.hand import pick_one
from envmgr.app.hosting import facts_here, true_settings
from envmgr.app.locking import LockMaker, LockWishes, existing_lock
from envmgr.app.vendoring import Vendor, beside
from envmgr.app.version import version
from envmgr.app.workplace import Workplace
from envmgr.errors import EnvmgrError, LockError, UsageError
from envmgr.lock.inputs import staleness
from envmgr.lock.parse import parse
from envmgr.lock.render import render
from envmgr.lock.wheels import unmet
from envmgr.manifest.expand import target
from envmgr.manifest.read import parse_manifest
from envmgr.model.lock import Lock
from envmgr.model.manifest import Manifest, Target
from envmgr.model.noun import Noun
from envmgr.model.platform import Platform

_HEAD = "bundle.json"
_SHOWN = 3


class BundleHead(Noun):
    """What a bundle holds: one version set, locked for one platform; `files` has the sha256 of every other member."""

    schema_: int = Field(default=1, alias="schema", serialization_alias="schema", ge=1, le=1)
    envmgr: str
    manifest: str
    variant: str
    platform: Platform
    python: str
    files: dict[str, str]


class Bundled(NamedTuple):
    """What `export --to bundle` wrote: the file with its digest, and how much of what is in it."""

    written: str
    sha256: str
    size: int
    platform: Platform
    distributions: int
    wheels: int
    runners: tuple[str, ...]


class Unbundled(NamedTuple):
    """What `import` laid down: the project's folder, the version set as it is called there, and its matrix."""

    project: str
    name: str
    matrix: str
    platform: Platform
    python: str
    wheels: int
    runners: tuple[str, ...]
    unchanged: tuple[str, ...] = ()


def export_bundle(workplace: Workplace, name: str, output: Path, platform: str | None) -> Bundled:
    """Write a version set into one file: lock, wheels (verified), manifest, runners, a matrix, and their digests.

    What floats is bundled as it was resolved last.
    """
    manifest, variant = pick_one(workplace, name)
    if manifest.step:
        raise UsageError(
            f"{manifest.name} cannot be bundled",
            "it is a history of steps, which its installers replay from an index",
            "bundle a version set that has requirements",
        )
    facts = facts_here(workplace)
    chosen = target(manifest, variant, platform_for(manifest, variant, platform, facts))
    maker = LockMaker(workplace, facts, true_settings(workplace))
    found = existing_lock(workplace, chosen) or maker.make(chosen, LockWishes())
    with workplace.files.scratch("bundle") as folder:
        kept = Vendor(workplace, maker).vendor(chosen, found.lock, folder / "wheels")
        members = _members(workplace, chosen, found.lock, kept.folder)
        digests = {name: _digest(workplace, folder, content) for name, content in members.items()}
        head = BundleHead(
            envmgr=version(),
            manifest=manifest.name,
            variant=variant,
            platform=chosen.platform,
            python=found.lock.python,
            files=dict(sorted(digests.items())),
        )
        place = workplace.caller.folder / output
        packed = folder / "bundle"
        workplace.artefacts.pack(packed, {**members, _HEAD: head.model_dump_json(by_alias=True, indent=1) + "\n"})
        workplace.files.bring(packed, place)
    return Bundled(
        written=str(output),
        sha256=workplace.artefacts.digest(place),
        size=workplace.files.size(place),
        platform=chosen.platform,
        distributions=len(found.lock.distributions),
        wheels=kept.files,
        runners=tuple(sorted(Path(each).stem for each in members if each.startswith("runners/"))),
    )


def import_bundle(workplace: Workplace, bundle: Path, asked: Path | None) -> Unbundled:
    """Lay a bundle's content down in a project, every file checked against its digest and every wheel against the lock.

    The project is the one in view, else the caller's folder becomes one. What is there already with other content is
    never overwritten; raises UsageError or LockError then, and nothing has been written.
    """
    root = asked.absolute() if asked else workplace.project.root or workplace.caller.folder
    with workplace.files.scratch("import") as folder:
        names = workplace.artefacts.unpack(workplace.caller.folder / bundle, folder)
        head = _checked_head(workplace, bundle, folder, names)
        manifest = parse_manifest(workplace.files.read(folder / "manifest.toml") or "", f"{bundle}: manifest.toml")
        lock = parse(workplace.files.read(folder / "lock.txt") or "", f"{bundle}: lock.txt")
        _check_fit(head, manifest, lock, bundle)
        _check_wheels(workplace, lock, folder / "wheels", bundle)
        places = dict(_places(head, manifest, names, root))
        unchanged = _unchanged(workplace, folder, places)
        for source, place in places.items():
            if source not in unchanged:
                workplace.files.bring(folder / source, place)
    label = head.manifest if head.variant == "default" else f"{head.manifest}@{head.variant}"
    return Unbundled(
        project=str(root),
        name=label,
        matrix=head.manifest,
        platform=head.platform,
        python=head.python,
        wheels=sum(name.startswith("wheels/") for name in names),
        runners=tuple(sorted(Path(name).stem for name in names if name.startswith("runners/"))),
        unchanged=tuple(sorted(str(places[name].relative_to(root)) for name in unchanged)),
    )


def _members(workplace: Workplace, chosen: Target, lock: Lock, wheels: Path) -> dict[str, Path | str]:
    manifest = chosen.manifest
    entries = _entries(workplace, chosen)
    names = dict.fromkeys((*manifest.runners, *(entry["runner"] for entry in entries)))
    runners = {name: workplace.shelf.runners[name] for name in names if name in workplace.shelf.runners}
    return {
        "manifest.toml": workplace.shelf.paths[manifest.name],
        "lock.txt": render(lock),
        "matrix.toml": _matrix(chosen, entries or [{"runner": name} for name in runners]),
        **{f"runners/{name}.py": path for name, path in runners.items()},
        **{f"wheels/{path.name}": path for path in workplace.files.list(wheels)},
    }


def _entries(workplace: Workplace, chosen: Target) -> list[dict[str, Any]]:
    """Return what the first matrix in view that measures a version set (`quick` before others) measures of it."""
    names = {chosen.manifest.name, chosen.label}
    for name in sorted(workplace.shelf.matrix_names(), key=lambda each: (each != "quick", each)):
        try:
            matrix = workplace.shelf.matrix(name)
        except EnvmgrError:
            continue
        fitting = [
            {"runner": entry.runner, **({"parameters": entry.parameters} if entry.parameters else {})}
            for entry in matrix.entry
            if names & set(entry.manifests) or (not entry.manifests and entry.runner in chosen.manifest.runners)
        ]
        if names & set(matrix.manifests) and fitting:
            return fitting
    return []


def _matrix(chosen: Target, entries: list[dict[str, Any]]) -> str:
    name = chosen.manifest.name
    summary = f"What was measured of {chosen.label} where it was bundled"
    head = {"schema": 1, "name": name, "summary": summary, "effort": "quick", "manifests": [chosen.label]}
    return tomlkit.dumps({**head, "entry": entries})


def _digest(workplace: Workplace, folder: Path, content: Path | str) -> str:
    if isinstance(content, Path):
        return workplace.artefacts.digest(content)
    place = folder / "text"
    workplace.files.write(place, content)
    return workplace.artefacts.digest(place)


def _checked_head(workplace: Workplace, bundle: Path, folder: Path, names: tuple[str, ...]) -> BundleHead:
    """Return the head of an unpacked bundle, all whose members are what it says; raises UsageError."""
    try:
        head = BundleHead.model_validate_json(workplace.files.read(folder / _HEAD) or "")
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        why = f"its {_HEAD} cannot be read: {'.'.join(map(str, first['loc']))} {first['msg']}"
        raise UsageError(
            f"{bundle} is no bundle of this envmgr", why, "make one with: envmgr export NAME --to bundle --output FILE"
        ) from error
    present = set(names) - {_HEAD}
    odd = sorted(present ^ set(head.files))
    if not odd:
        odd = [name for name in sorted(present) if workplace.artefacts.digest(folder / name) != head.files[name]]
    if odd:
        told = ", ".join(odd[:_SHOWN])
        raise UsageError(f"{bundle} is damaged", f"not what its {_HEAD} says: {told}", "copy it here again")
    return head


def _check_fit(head: BundleHead, manifest: Manifest, lock: Lock, bundle: Path) -> None:
    """Demand that the parts of a bundle belong together."""
    chosen = target(manifest, head.variant, head.platform)
    reason = staleness(lock, chosen)
    if manifest.name != head.manifest or reason:
        raise LockError(f"the lock in {bundle} does not fit its manifest", reason or manifest.name, "bundle it anew")


def _check_wheels(workplace: Workplace, lock: Lock, wheels: Path, bundle: Path) -> None:
    digests = frozenset(map(workplace.artefacts.digest, workplace.files.list(wheels)))
    missing = unmet(lock, digests)
    if missing:
        raise LockError(
            f"{bundle} lacks what its lock names",
            f"no wheel with an admitted hash for {', '.join(missing[:_SHOWN])}",
            "copy it here again, or bundle it anew",
        )


def _places(head: BundleHead, manifest: Manifest, names: tuple[str, ...], root: Path) -> Iterator[tuple[str, Path]]:
    manifests = root / "manifests"
    lock = manifests / "locks" / manifest.name / f"{head.variant}-{head.platform}.txt"
    yield "manifest.toml", manifests / f"{manifest.name}.toml"
    yield "lock.txt", lock
    yield "matrix.toml", manifests / "matrices" / f"{manifest.name}.toml"
    for name in names:
        kind, _, file = name.partition("/")
        if kind == "runners" and "/" not in file and file.endswith(".py"):
            yield name, root / "runners" / file
        elif kind == "wheels" and file and "/" not in file:
            yield name, beside(lock) / file


def _unchanged(workplace: Workplace, folder: Path, places: Mapping[str, Path]) -> frozenset[str]:
    """Return what is there already, just so; raises UsageError when something else is in its place."""
    digest, files = workplace.artefacts.digest, workplace.files
    there = [name for name, place in places.items() if files.exists(place)]
    other = [name for name in there if digest(folder / name) != digest(places[name])]
    if other:
        shown = ", ".join(str(places[name]) for name in other[:_SHOWN])
        raise UsageError(
            "something else is in its place",
            f"wanted to write {shown}; found other content there",
            "import it into a folder of its own: envmgr import BUNDLE --project DIR",
        )
    return frozenset(there)
