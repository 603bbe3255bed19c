"""What there is: manifests with their locks and envs."""

from __future__ import annotations

from typing import NamedTuple

from envmgr.app.building import Builder, BuildWishes
from envmgr.app.hand import pick_one
from envmgr.app.hosting import pythons_here
from envmgr.app.locking import read_lock
from envmgr.app.sharing import make_own
from envmgr.app.workplace import Workplace
from envmgr.errors import BuildError, EnvmgrError, ManifestError
from envmgr.host.match import match
from envmgr.lock.inputs import staleness
from envmgr.manifest.expand import target, variants
from envmgr.model.env import Env
from envmgr.model.host import Match
from envmgr.model.manifest import Manifest


class CatalogueEntry(NamedTuple):
    """One variant of a manifest: on which platforms it is locked, and the key of its env here if it is built."""

    name: str
    variant: str
    summary: str
    python: str
    backend: str | None
    runners: tuple[str, ...]
    match: Match
    locked: tuple[str, ...]
    built: str | None


class LockState(NamedTuple):
    """One lock of a manifest: what it holds, and why it is stale if it is."""

    variant: str
    platform: str
    path: str
    distributions: dict[str, str]
    stale: str


class Details(NamedTuple):
    """One manifest with all its locks, and the env of the variant asked for if it is built."""

    manifest: Manifest
    variant: str
    path: str
    locks: tuple[LockState, ...]
    env: Env | None


def catalogue(workplace: Workplace) -> tuple[tuple[CatalogueEntry, ...], tuple[ManifestError, ...]]:
    """Return every variant of every manifest that can be read, and the errors of those that cannot."""
    manifests, errors = workplace.shelf.sound()
    builder = Builder(workplace, pythons_here(workplace), BuildWishes())
    entries = [
        _entry(workplace, builder, manifest, variant)
        for manifest in manifests.values()
        for variant in variants(manifest)
    ]
    return tuple(entries), errors


def details(workplace: Workplace, name: str) -> Details:
    """Return one manifest with its locks and its env."""
    manifest, variant = pick_one(workplace, name)
    builder = Builder(workplace, pythons_here(workplace), BuildWishes())
    return Details(
        manifest=manifest,
        variant=variant,
        path=workplace.project.shown(workplace.shelf.paths[manifest.name]),
        locks=_locks(workplace, manifest),
        env=_built(builder, manifest, variant),
    )


def folder_of(workplace: Workplace, name: str) -> str:
    """Return the folder of a built env, which from now on may be written to; raises BuildError when it is not built."""
    manifest, variant = pick_one(workplace, name)
    built = Builder(workplace, pythons_here(workplace), BuildWishes()).find(manifest, variant)
    if built is None:
        raise BuildError(f"{name} is not built", "wanted a finished environment; found none", f"envmgr build {name}")
    return make_own(workplace, built.env).path


def _entry(workplace: Workplace, builder: Builder, manifest: Manifest, variant: str) -> CatalogueEntry:
    locked = tuple(state.platform for state in _locks(workplace, manifest) if state.variant == variant)
    env = _built(builder, manifest, variant)
    return CatalogueEntry(
        name=manifest.name,
        variant=variant,
        summary=manifest.summary,
        python=manifest.python,
        backend=manifest.backend,
        runners=manifest.runners,
        match=match(manifest, variant, builder.facts),
        locked=locked,
        built=env.key if env else None,
    )


def _locks(workplace: Workplace, manifest: Manifest) -> tuple[LockState, ...]:
    states = []
    for variant in variants(manifest):
        for platform in manifest.platforms:
            chosen = target(manifest, variant, platform)
            try:
                found = read_lock(workplace, chosen)
            except EnvmgrError as error:
                states.append(LockState(variant, platform, "", {}, error.what))
                continue
            if found is not None:
                versions = {each.name: each.version for each in found.lock.distributions}
                shown = workplace.project.shown(found.path)
                states.append(LockState(variant, platform, shown, versions, staleness(found.lock, chosen)))
    return tuple(states)


def _built(builder: Builder, manifest: Manifest, variant: str) -> Env | None:
    try:
        built = builder.find(manifest, variant)
    except EnvmgrError:
        return None
    return built.env if built else None
