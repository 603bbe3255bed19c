"""The command `lock`: makes locks for every platform, or tells which are stale."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from envmgr.app.hosting import facts_here, true_settings
from envmgr.app.locking import LockMaker, LockWishes, existing_lock, lock_paths, read_lock, told
from envmgr.app.vendoring import Vendor, beside
from envmgr.app.workplace import Workplace
from envmgr.errors import EnvmgrError, LockError, NothingSelectedError, ResolveError, UsageError
from envmgr.lock.inputs import staleness
from envmgr.manifest.expand import select, target, variants
from envmgr.manifest.faults import suggest
from envmgr.model.manifest import Manifest, Target
from envmgr.model.platform import Platform
from envmgr.ports import Event


class LockMade(NamedTuple):
    """What became of one lock: `state` is made, renewed, unchanged, vendored or failed."""

    label: str
    platform: str
    state: str
    path: str = ""
    distributions: int = 0
    notes: tuple[str, ...] = ()
    error: str = ""
    why: str = ""
    hint: str = ""


class LockVerdict(NamedTuple):
    """One lock without network: `state` is fresh, stale, damaged, missing, floats or history."""

    label: str
    platform: str
    state: str
    reason: str = ""

    @property
    def drifted(self) -> bool:
        """True when the lock does not hold what its manifest says."""
        return self.state in {"stale", "damaged"}


def check_locks(workplace: Workplace, names: Sequence[str], platforms: Sequence[str]) -> tuple[LockVerdict, ...]:
    """Return the verdict on every lock of the selected manifests; needs no network."""
    return tuple(_verdict(workplace, chosen) for chosen in _targets(workplace, names, platforms))


def vendor_locks(workplace: Workplace, names: Sequence[str], platforms: Sequence[str]) -> tuple[LockMade, ...]:
    """Keep the artefacts of the selected locks beside them; a lock that is missing is made, one that is stale told.

    One that fails does not stop the others.
    """
    maker = LockMaker(workplace, facts_here(workplace), true_settings(workplace))
    vendor = Vendor(workplace, maker)
    made = []
    for chosen in _targets(workplace, names, platforms):
        if chosen.manifest.step or chosen.manifest.floating:
            continue
        try:
            found = existing_lock(workplace, chosen) or maker.make(chosen, LockWishes(for_all=True, others=True))
            kept = vendor.vendor(chosen, found.lock, beside(found.path))
        except EnvmgrError as error:
            made.append(_failed(chosen, error))
            continue
        note = f"{kept.files} artefacts, {kept.size / 1e6:.1f} MB, {kept.fetched} of them fetched now"
        shown = workplace.project.shown(kept.folder)
        made.append(LockMade(chosen.label, chosen.platform, "vendored", shown, len(found.lock.distributions), (note,)))
    return _demanded(made)


def make_locks(
    workplace: Workplace, names: Sequence[str], platforms: Sequence[str], upgrades: Sequence[str]
) -> tuple[LockMade, ...]:
    """Resolve the selected manifests for every platform and write the locks; one that fails does not stop the others.

    With `upgrades`, only those distributions move to their newest versions; what else was locked stays.
    """
    maker = LockMaker(workplace, facts_here(workplace), true_settings(workplace))
    made = []
    silent: dict[str, ResolveError] = {}
    for chosen in _targets(workplace, names, platforms):
        manifest = chosen.manifest
        if manifest.step or manifest.floating:
            continue
        if manifest.name in silent:  # asked once, with retries: another platform would wait as long for nothing
            error = silent[manifest.name]
            made.append(_failed(chosen, error))
            continue
        workplace.listener.on_event(Event("resolve", chosen.label, str(chosen.platform)))
        before = _before(workplace, chosen)
        try:
            found = maker.make(chosen, LockWishes(for_all=True, upgrades=tuple(upgrades), others=True))
        except EnvmgrError as error:
            if isinstance(error, ResolveError) and error.silent:
                silent[manifest.name] = error
            made.append(_failed(chosen, error))
            continue
        after = workplace.files.read(found.path)
        state = "made" if before is None else "unchanged" if before == after else "renewed"
        shown = workplace.project.shown(found.path)
        count = len(found.lock.distributions)
        made.append(LockMade(chosen.label, chosen.platform, state, shown, count, found.notes))
    return _demanded(made)


def _demanded(made: Sequence[LockMade]) -> tuple[LockMade, ...]:
    if not made:
        raise NothingSelectedError(
            "there is nothing to lock",
            "the selection holds only manifests that float or that are histories of steps",
            "they are resolved when they are built: envmgr build NAME",
        )
    return tuple(made)


def _before(workplace: Workplace, chosen: Target) -> str | None:
    return workplace.files.read(lock_paths(workplace, chosen)[0])


def _verdict(workplace: Workplace, chosen: Target) -> LockVerdict:
    manifest = chosen.manifest
    if manifest.step:
        return LockVerdict(chosen.label, chosen.platform, "history", "its steps are run as they stand")
    if manifest.floating:
        return LockVerdict(chosen.label, chosen.platform, "floats", _floats(workplace, chosen))
    try:
        found = read_lock(workplace, chosen)
    except LockError as error:
        return LockVerdict(chosen.label, chosen.platform, "damaged", error.what)
    if found is None:
        return LockVerdict(chosen.label, chosen.platform, "missing", f"envmgr lock {chosen.label} makes it")
    reason = staleness(found.lock, chosen)
    return LockVerdict(chosen.label, chosen.platform, "stale" if reason else "fresh", reason)


def _floats(workplace: Workplace, chosen: Target) -> str:
    told_always = "it is resolved when it is built"
    try:
        found = read_lock(workplace, chosen)
    except LockError:
        found = None
    return f"{told_always}; the last time to {told(found.lock, chosen)}" if found else told_always


def _targets(workplace: Workplace, names: Sequence[str], platforms: Sequence[str]) -> Iterator[Target]:
    wanted = {_platform(name) for name in platforms}
    for manifest, variant in _selected(workplace, names):
        for each in (variant,) if variant else variants(manifest):
            for platform in manifest.platforms:
                if not wanted or platform in wanted:
                    yield target(manifest, each, platform)


def _selected(workplace: Workplace, names: Sequence[str]) -> tuple[tuple[Manifest, str | None], ...]:
    if names:
        return select(names, workplace.shelf)
    manifests, errors = workplace.shelf.sound()
    if errors:
        raise errors[0]
    return tuple((manifest, None) for manifest in manifests.values())


def _failed(chosen: Target, error: EnvmgrError) -> LockMade:
    return LockMade(chosen.label, chosen.platform, "failed", error=error.what, why=error.why, hint=error.hint)


def _platform(name: str) -> Platform:
    try:
        return Platform(name)
    except ValueError:
        raise UsageError(
            f"there is no platform {name!r}", suggest(name, Platform), f"wanted one of {', '.join(Platform)}"
        ) from None
