"""From a manifest's variant to a built environment on this host."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from envmgr.app.hosting import fetch_python, true_settings
from envmgr.app.locking import LockFound, LockMaker, LockWishes, existing_lock, read_lock, told
from envmgr.app.sharing import shared
from envmgr.app.vendoring import Vendor
from envmgr.app.workplace import Workplace
from envmgr.backends import invariants
from envmgr.env.build import build_once, claim_built, find_built, unfinish
from envmgr.env.content import (
    BuildRequest,
    HistoryContent,
    LockedContent,
    Places,
    RequirementGroup,
    SourceBuilds,
    Switches,
    Tools,
)
from envmgr.env.downloads import warn_of_size
from envmgr.env.identity import env_key, lock_digest, steps_digest
from envmgr.env.inspect import Inspection
from envmgr.errors import BuildError, HostError, LockError, ResolveError
from envmgr.host.match import match
from envmgr.lock.compile import ALL
from envmgr.lock.render import build_constraints, requirements
from envmgr.manifest.expand import target
from envmgr.model.env import Env
from envmgr.model.host import HostFacts, InstallerSettings, Interpreter
from envmgr.model.lock import Lock
from envmgr.model.manifest import Manifest, Target
from envmgr.model.platform import Platform
from envmgr.ports import Event

BUILDS_AT_ONCE = 3
"""Builds that overlap: while one downloads, another is filled and a third is looked at."""


@dataclass(frozen=True, slots=True)
class BuildWishes:
    """How the user wants envs built: on which Python, without network, without fetching Pythons.

    With `again`, what is built already is built anew. With `others`, a lock that is made is for another Python that
    the manifest admits where the first has nothing.
    """

    python: str | None = None
    offline: bool = False
    downloads: bool = True
    others: bool = True
    again: bool = False


@dataclass(frozen=True, slots=True)
class Built:
    """A built env of one variant; `lock` is what it was built from, if anything.

    `fresh` tells that this call built it; then `inspection` is what was found in it at its end.
    """

    target: Target
    env: Env
    lock: Lock | None
    fresh: bool
    notes: tuple[str, ...] = ()
    inspection: Inspection | None = None


class Builder:
    """Builds envs on one host; facts and settings are gathered once for all of them."""

    def __init__(self, workplace: Workplace, facts: HostFacts, wishes: BuildWishes) -> None:
        self._workplace = workplace
        self.facts = facts
        self._wishes = wishes
        self._settings: InstallerSettings = true_settings(workplace)
        self._inspected: dict[str, Inspection] = {}
        self._unfinished: set[str] = set()
        self._lock_maker = LockMaker(workplace, facts, self._settings)
        self._vendor = Vendor(workplace, self._lock_maker)

    def build(self, manifest: Manifest, variant: str) -> Built:
        """Return the env of a variant, built if it is not there yet; raises EnvmgrError when it cannot be."""
        platform, interpreter, found = self._base(manifest, variant)
        return self._build(target(manifest, variant, platform), interpreter, found)

    def rebuild(self, manifest: Manifest, variant: str, lock: Lock) -> Built:
        """Return the env that an earlier lock describes, whatever is locked now; raises EnvmgrError."""
        platform, interpreter = self._interpreter(manifest, variant, lock.python)
        if platform is not lock.platform:
            raise HostError(
                f"{manifest.name} was locked for another platform",
                f"wanted {lock.platform}; this host has it for {platform}",
                f"envmgr build {manifest.name}",
            )
        return self._build(target(manifest, variant, platform), interpreter, LockFound(lock, Path()))

    def _build(self, chosen: Target, interpreter: Interpreter, found: LockFound | None) -> Built:
        request = self._request(chosen, interpreter, found)
        if self._wishes.again and request.key not in self._unfinished:
            self._unfinished.add(request.key)  # another name may mean the same env
            unfinish(request, self._workplace.files)
        ready = claim_built(request, self._workplace.files)
        notes = found.notes if found else ()
        if ready is not None:
            return Built(chosen, ready, found.lock if found else None, fresh=False, notes=notes)
        self._warn_of_size(chosen, found)
        if found is not None and chosen.manifest.floating and not self._wishes.offline:
            self._vendor.keep(chosen, found.lock, request.content.digest)
            request = self._request(chosen, interpreter, found)
        env, fresh = self._fill(request, found)
        inspection = self._inspected.pop(request.key, None)
        return Built(chosen, env, found.lock if found else None, fresh=fresh, notes=notes, inspection=inspection)

    def _fill(self, request: BuildRequest, found: LockFound | None) -> tuple[Env, bool]:
        place = self._workplace
        try:
            tools = Tools(place.process, place.files, place.clock, place.listener, self._inspected, place.recipes)
            env, fresh = build_once(shared(request, place), tools, invariants)
        except BuildError as error:
            if found is not None and error.gone:
                raise self._vendor.told_gone(error, found.lock, request.content.digest) from error
            raise
        return env, fresh

    def find(self, manifest: Manifest, variant: str) -> Built | None:
        """Return the env of a variant if it is built; nothing is resolved, fetched or built."""
        fitting = match(manifest, variant, self.facts, self._wishes.python)
        if fitting.interpreter is None or fitting.platform is None:
            return None
        interpreter = fitting.interpreter
        chosen = target(manifest, variant, fitting.platform)
        found = None if manifest.step else existing_lock(self._workplace, chosen)
        if found is None and not manifest.step:
            return None
        if found is not None and interpreter.minor != found.lock.python:
            refitted = match(manifest, variant, self.facts, found.lock.python)
            if refitted.interpreter is None:
                return None
            interpreter = refitted.interpreter
        env = find_built(self._request(chosen, interpreter, found), self._workplace.files)
        return Built(chosen, env, found.lock if found else None, fresh=False) if env else None

    def _base(self, manifest: Manifest, variant: str) -> tuple[Platform, Interpreter, LockFound | None]:
        """Return platform, interpreter and lock; a lock decides on the Python where the manifest leaves it open."""
        platform, interpreter = self._interpreter(manifest, variant, self._wishes.python)
        if manifest.step:
            return platform, interpreter, None
        chosen = target(manifest, variant, platform)
        anew = manifest.floating and not self._wishes.offline
        found = (read_lock if anew else existing_lock)(self._workplace, chosen)
        if found is None or anew:
            found = self._resolved(chosen, found)
        if interpreter.minor != found.lock.python:
            self._demand_open_choice(chosen, found.lock)
            platform, interpreter = self._interpreter(manifest, variant, found.lock.python)
        return platform, interpreter, found

    def _resolved(self, chosen: Target, before: LockFound | None) -> LockFound:
        """Resolve a target; where that worked before, the error says how to get what it was resolved to then."""
        try:
            others = self._wishes.others and self._wishes.python is None
            wishes = LockWishes(offline=self._wishes.offline, upgrades=(ALL,), others=others)
            return self._lock_maker.make(chosen, wishes)
        except ResolveError as error:
            if before is None:
                raise
            folders = self._vendor.folders(before.lock, lock_digest(before.lock, chosen.manifest.build_requires), None)
            copy = f"yes ({folders[0]})" if folders else "no"
            why = f"{error.why}\nit was resolved before, to {told(before.lock, chosen)}; vendored copy: {copy}"
            hint = f"{error.hint} Or build what it was resolved to: envmgr build {chosen.label} --offline"
            answered = error.answered
            raise ResolveError(error.what, why, hint, answered=answered, gone=answered).lacking(error.lacks) from error

    def _demand_open_choice(self, chosen: Target, lock: Lock) -> None:
        if self._wishes.python is not None:
            raise LockError(
                f"the lock of {chosen.label} is not for Python {self._wishes.python}",
                f"wanted a lock for that Python; found one for Python {lock.python}",
                "leave out --python, or give the manifest [variants] python = [...]",
            )

    def _interpreter(self, manifest: Manifest, variant: str, python: str | None) -> tuple[Platform, Interpreter]:
        fitting = match(manifest, variant, self.facts, python)
        label = manifest.name if variant == "default" else f"{manifest.name}@{variant}"
        if not fitting.fits or fitting.platform is None:
            raise HostError(f"{label} cannot be had on this host", fitting.reason, "envmgr doctor")
        if fitting.interpreter is not None:
            return fitting.platform, fitting.interpreter
        if fitting.fetch is None:
            raise HostError(f"{label} cannot be had on this host", fitting.reason, "envmgr doctor")
        if self._wishes.offline:
            raise HostError(
                f"{label} needs a Python that is not here",
                f"wanted {fitting.fetch}; fetching it is ruled out by --offline",
                f"envmgr python install {fitting.fetch}",
            )
        self._workplace.listener.on_event(Event("fetching Python", label, fitting.fetch))
        return fitting.platform, fetch_python(self._workplace, fitting.fetch, downloads=self._wishes.downloads)

    def _request(self, chosen: Target, interpreter: Interpreter, found: LockFound | None) -> BuildRequest:
        content = content_of(chosen.manifest, found.lock if found else None)
        folders = self._workplace.folders
        return BuildRequest(
            manifest=chosen.manifest.name,
            variant=chosen.variant,
            key=env_key(content.digest, interpreter, chosen.platform),
            interpreter=interpreter,
            content=content,
            places=Places(
                envs=folders.envs,
                uv_cache=self._workplace.uv_cache,
                pip_cache=folders.cache / "pip",
                app_data=folders.app_data,
            ),
            switches=Switches(
                uv=str(self._workplace.uv),
                settings=self._settings,
                caller=self._workplace.caller.environment,
                offline=self._wishes.offline,
                expected_bytes=found.lock.download if found else 0,
                vendored=self._vendored(content.digest, found),
            ),
        )

    def _vendored(self, digest: str, found: LockFound | None) -> tuple[str, ...]:
        return tuple(map(str, self._vendor.folders(found.lock, digest, found.path))) if found else ()

    def _warn_of_size(self, chosen: Target, found: LockFound | None) -> None:
        warn_of_size(found.lock.download if found else 0, chosen.label, self._workplace.listener)


def content_of(manifest: Manifest, lock: Lock | None) -> LockedContent | HistoryContent:
    """Return what an env is made from: its lock, or the history of steps that a manifest without one is."""
    return _history(manifest) if lock is None else _locked(manifest, lock)


def _history(manifest: Manifest) -> HistoryContent:
    date = manifest.exclude_newer.isoformat() if manifest.exclude_newer else None
    return HistoryContent(digest=steps_digest(manifest.step, date), steps=manifest.step, exclude_newer=date)


def _locked(manifest: Manifest, lock: Lock) -> LockedContent:
    urls = {index.name: index.url for index in manifest.index}
    named = [RequirementGroup(text=requirements(lock, name), name=name, url=urls[name]) for name in lock.indexes]
    return LockedContent(
        digest=lock_digest(lock, manifest.build_requires),
        groups=(RequirementGroup(text=requirements(lock, None)), *named),
        sources=SourceBuilds(
            names=tuple(each.name for each in lock.distributions if each.source),
            constraints=build_constraints(lock),
            requires=manifest.build_requires,
        ),
    )
