"""Locks: found, judged, made."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from envmgr.app.workplace import Workplace
from envmgr.env.uv import network_environment
from envmgr.errors import LockError, ResolveError
from envmgr.host.match import match
from envmgr.lock.inputs import staleness
from envmgr.lock.parse import parse
from envmgr.lock.render import render
from envmgr.lock.work import Resolution, Resolver, Wish
from envmgr.manifest.expand import pythons
from envmgr.model.host import HostFacts, InstallerSettings
from envmgr.model.lock import Lock
from envmgr.model.manifest import Target


@dataclass(frozen=True, slots=True)
class LockFound:
    """A fresh lock, where it stands, whether it was just made, and what is to be told about it."""

    lock: Lock
    path: Path
    made: bool = False
    notes: tuple[str, ...] = ()


def lock_paths(workplace: Workplace, target: Target) -> tuple[Path, ...]:
    """Return where the lock of a target may stand: committed beside the manifest first, then made on this machine."""
    file = Path(target.manifest.name) / f"{target.variant}-{target.platform}.txt"
    return workplace.project.locks / file, workplace.project.own_locks / file


def read_lock(workplace: Workplace, target: Target) -> LockFound | None:
    """Return the lock of a target, stale or not, or None if there is none; raises LockError for a damaged one."""
    for path in lock_paths(workplace, target):
        text = workplace.files.read(path)
        if text is not None:
            return LockFound(parse(text, workplace.project.shown(path)), path)
    return None


def existing_lock(workplace: Workplace, target: Target) -> LockFound | None:
    """Return the lock of a target, or None if there is none; raises LockError for a stale one."""
    found = read_lock(workplace, target)
    if found is None:
        return None
    reason = staleness(found.lock, target)
    if reason:
        raise LockError(
            f"the lock of {target.label} for {target.platform} is stale",
            f"{workplace.project.shown(found.path)}: {reason}",
            f"envmgr lock {target.label} --platform {target.platform}",
        )
    return found


def told(lock: Lock, target: Target) -> str:
    """Return the versions of a lock that its manifest asks for by name, in short."""
    asked = {canonicalize_name(Requirement(text).name) for text in target.manifest.requirements}
    return ", ".join(f"{each.name} {each.version}" for each in lock.distributions if each.name in asked)


@dataclass(frozen=True, slots=True)
class LockWishes:
    """How a lock is made: with what of the host's settings, without network, and what of an old lock is to move.

    `for_all` makes a lock to commit: the host's further indexes, wheel folders and constraints take no part in it.
    `python` is the minor version to lock for where the manifest leaves it open and no earlier lock decides; with
    `others`, the other Pythons that it admits are tried where that one has nothing.
    """

    for_all: bool = False
    offline: bool = False
    upgrades: tuple[str, ...] = ()
    python: str | None = None
    others: bool = False


class LockMaker:
    """Makes locks on one host; facts and settings are gathered once for all of them."""

    def __init__(self, workplace: Workplace, facts: HostFacts, settings: InstallerSettings) -> None:
        self._workplace = workplace
        self._facts = facts
        self._settings = settings
        self._served: dict[str, str] = {}

    def make(self, chosen: Target, wishes: LockWishes) -> LockFound:
        """Resolve a target and write its lock; raises ResolveError when there is no solution or no index answers."""
        previous = _readable(self._workplace, chosen)
        python = self._python(chosen, previous, wishes.python)
        try:
            resolution = self._resolution(chosen, python, previous, wishes)
        except ResolveError as error:
            floats_on = chosen.manifest.floating and previous is not None  # what is compared by day keeps its Python
            if not wishes.others or not error.of_python or floats_on:
                raise
            resolution = self._with_another(chosen, python, wishes, error)
        path = self._place(chosen, wishes)
        self._workplace.files.write(path, render(resolution.lock))
        return LockFound(resolution.lock, path, made=True, notes=resolution.notes)

    def _resolution(self, chosen: Target, python: str, previous: Lock | None, wishes: LockWishes) -> Resolution:
        wish = Wish(
            target=chosen,
            python=python,
            interpreter=self._interpreter(python),
            previous=previous,
            upgrade=frozenset(wishes.upgrades),
        )
        from envmgr.lock.resolve import resolve  # of a lock that is there, nothing is resolved

        return resolve(wish, self._resolver(wishes))

    def _with_another(self, chosen: Target, python: str, wishes: LockWishes, error: ResolveError) -> Resolution:
        """Return the resolution with another Python that the manifest admits; raises the error where there is none.

        Those of this host are tried first, the newest before the others; what served another platform before all.
        """
        here = {one.minor for one in self._facts.interpreters}
        others = sorted((each for each in pythons(chosen.python) if each != python), key=lambda each: each not in here)
        served = self._served.get(chosen.label)
        for other in sorted(others, key=lambda each: each != served):
            try:
                found = self._resolution(chosen, other, None, wishes)
            except ResolveError as failed:
                if not failed.answered:
                    raise
                continue
            self._served[chosen.label] = other
            reason = error.what.partition(": ")[2]
            note = f"for Python {other}, as `python` leaves it open and {reason}"
            return Resolution(found.lock, (*found.notes, note))
        raise error

    def resolved(self, chosen: Target) -> Lock:
        """Resolve a target anew, whatever is locked, and write nothing; raises ResolveError."""
        python = self._python(chosen, None, None)
        wish = Wish(target=chosen, python=python, interpreter=self._interpreter(python))
        from envmgr.lock.resolve import resolve

        return resolve(wish, self._resolver(LockWishes())).lock

    def with_addresses(self, chosen: Target, lock: Lock) -> str:
        """Return a lock as pylock.toml, with the addresses that the indexes give now; raises ResolveError."""
        wish = Wish(target=chosen, python=lock.python, interpreter=self._interpreter(lock.python))
        from envmgr.lock.artefacts import as_pylock

        return as_pylock(lock, wish, self._resolver(LockWishes()))

    def _resolver(self, wishes: LockWishes) -> Resolver:
        place = self._workplace
        environment = network_environment(self._settings, place.caller.environment)
        return Resolver(
            process=place.process,
            files=place.files,
            uv=place.uv,
            any_python=Path(sys.executable),
            environment={**environment, "UV_CACHE_DIR": str(place.uv_cache)},
            settings=self._settings,
            host_sources=not wishes.for_all,
            offline=wishes.offline,
        )

    def _python(self, chosen: Target, previous: Lock | None, wished: str | None) -> str:
        """Return the minor version to lock for: as before if that will do, else one of this host, else the newest."""
        allowed = pythons(chosen.python)
        if previous is not None and previous.python in allowed:
            return previous.python
        if wished in allowed:
            return wished
        here = [one.minor for one in self._facts.interpreters if one.minor in allowed]
        found = match(chosen.manifest, chosen.variant, self._facts).interpreter
        if found is not None and found.minor in allowed:
            return found.minor
        return here[0] if here else allowed[0]

    def _interpreter(self, python: str) -> Path | None:
        native = [one for one in self._facts.interpreters if one.minor == python and not one.translated]
        return Path(native[0].executable) if native else None

    def _place(self, chosen: Target, wishes: LockWishes) -> Path:
        """Return where the lock goes: what depends on this host, or may not be written there, is not for all."""
        settings = self._settings
        of_host = settings.find_links or settings.extra_index_urls or settings.constraints
        committed, own = lock_paths(self._workplace, chosen)
        for_all = wishes.for_all or (not of_host and self._workplace.project.root is not None)
        return committed if for_all and not chosen.manifest.floating else own


def _readable(workplace: Workplace, chosen: Target) -> Lock | None:
    """Return the lock that there is, stale or not; a damaged one is as none, as it is about to be replaced."""
    try:
        found = read_lock(workplace, chosen)
    except LockError:
        return None
    return found.lock if found else None
