"""`export`: what is locked, in the forms that other tools read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from envmgr.app.building import Builder, BuildWishes
from envmgr.app.hand import pick_one
from envmgr.app.hosting import pythons_here, true_settings
from envmgr.app.locking import LockMaker, existing_lock
from envmgr.app.workplace import Workplace
from envmgr.errors import BuildError, HostError, LockError, UsageError
from envmgr.host.match import match
from envmgr.lock.export import as_environment, as_freeze, as_requirements
from envmgr.manifest.expand import target
from envmgr.manifest.faults import suggest
from envmgr.model.host import HostFacts
from envmgr.model.lock import Lock
from envmgr.model.manifest import Manifest, Target
from envmgr.model.platform import Platform

Form = Literal["requirements", "pylock", "conda"]


class Export(NamedTuple):
    """The text of an export, what it is of, and what the form cannot say."""

    text: str
    platform: Platform | None
    distributions: int
    notes: tuple[str, ...] = ()


def export(workplace: Workplace, name: str, form: Form, platform: str | None) -> Export:
    """Return the lock of a name for this host, or for a platform, in another tool's form.

    A history of steps and what floats have no lock: what is built here is exported instead, without hashes.
    """
    manifest, variant = pick_one(workplace, name)
    facts = pythons_here(workplace)
    if manifest.step or manifest.floating:
        return _of_env(workplace, manifest, variant, form, facts)
    chosen = target(manifest, variant, platform_for(manifest, variant, platform, facts))
    found = existing_lock(workplace, chosen)
    if found is None:
        raise LockError(
            f"{chosen.label} has no lock for {chosen.platform}",
            "wanted one to export; found none",
            f"envmgr lock {chosen.label} --platform {chosen.platform}",
        )
    if form == "pylock":
        text = LockMaker(workplace, facts, true_settings(workplace)).with_addresses(chosen, found.lock)
        return Export(text, chosen.platform, len(found.lock.distributions))
    return _of_lock(chosen, found.lock, form)


def _of_lock(chosen: Target, lock: Lock, form: Form) -> Export:
    count = len(lock.distributions)
    if form == "requirements":
        urls = {index.name: index.url for index in chosen.manifest.index}
        return Export(as_requirements(lock, urls), chosen.platform, count)
    pins = {each.name: each.version for each in lock.distributions}
    notes = ["conda knows no hashes of what pip installs: they are left out"]
    if lock.indexes:
        notes.append(f"what the indexes {', '.join(lock.indexes)} serve, pip must be told of by its own configuration")
    return Export(as_environment(chosen.manifest.name, lock.python, pins), chosen.platform, count, tuple(notes))


def _of_env(workplace: Workplace, manifest: Manifest, variant: str, form: Form, facts: HostFacts) -> Export:
    built = Builder(workplace, facts, BuildWishes()).find(manifest, variant)
    if built is None:
        raise BuildError(
            f"{manifest.name} is never locked and is not built here",
            "wanted its environment to export; found none",
            f"envmgr build {manifest.name}",
        )
    pins: Mapping[str, str] = built.env.resolved
    notes = ("it has no lock: these are the versions that are installed here, without hashes",)
    if form == "pylock":
        raise UsageError(
            f"{manifest.name} has no lock to export as pylock.toml",
            "a history of steps is replayed and what floats is resolved anew",
            f"envmgr export {manifest.name} --to requirements",
        )
    python = built.env.interpreter.minor
    text = as_freeze(pins) if form == "requirements" else as_environment(manifest.name, python, pins)
    return Export(text, built.target.platform, len(pins), notes)


def platform_for(manifest: Manifest, variant: str, asked: str | None, facts: HostFacts) -> Platform:
    """Return the platform asked for, or the one that this host has the manifest for; raises UsageError or HostError."""
    if asked is not None:
        if asked not in manifest.platforms:
            raise UsageError(
                f"{manifest.name} does not exist on {asked}",
                f"wanted one of: {', '.join(manifest.platforms)}",
                suggest(asked, manifest.platforms),
            )
        return Platform(asked)
    fitting = match(manifest, variant, facts)
    if fitting.platform is None:
        raise HostError(f"{manifest.name} cannot be had on this host", fitting.reason, "name a platform: --platform P")
    return fitting.platform
