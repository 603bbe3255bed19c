"""Kept artefacts: what a lock names, as files here, so that it can be built when its index is gone."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from envmgr.app.hosting import true_settings
from envmgr.app.locking import LockMaker
from envmgr.app.passwords import Passwords
from envmgr.app.workplace import Workplace
from envmgr.env.identity import lock_digest
from envmgr.errors import BuildError, EnvmgrError, ResolveError, StoreError
from envmgr.host.settings import with_credentials
from envmgr.lock.render import render
from envmgr.lock.wheels import admitted, artefacts_of, of_builds, unmet
from envmgr.model.lock import Lock
from envmgr.model.manifest import Target
from envmgr.model.outcome import Phase
from envmgr.ports import Event

_LOCK = "lock.txt"
_ABOUT = "about.json"
_GOOD = "good"


class Vendored(NamedTuple):
    """A folder of kept artefacts: how many files of how many bytes, and how many of them were fetched now."""

    folder: Path
    files: int
    size: int
    fetched: int


def beside(lock_path: Path) -> Path:
    """Return the folder in which `lock --vendor` keeps the artefacts of a lock; all locks of a manifest share it.

    >>> beside(Path("locks/one/default-linux-x86_64.txt")).as_posix()
    'locks/one/wheels'
    """
    return lock_path.parent / "wheels"


class Vendor:
    """Keeps artefacts on this host, and finds those that are kept."""

    def __init__(self, workplace: Workplace, maker: LockMaker) -> None:
        self._workplace = workplace
        self._maker = maker

    def folders(self, lock: Lock, digest: str, path: Path | None) -> tuple[Path, ...]:
        """Return the folders that may hold artefacts of a lock: beside it, and what was kept by default."""
        committed = self._workplace.project.locks / lock.manifest / "wheels"
        places = [committed, self._workplace.project.kept / digest / "wheels"]
        if path is not None and path.suffix == ".txt":
            places.insert(0, beside(path))
        return tuple(place for place in dict.fromkeys(places) if self._workplace.files.is_folder(place))

    def vendor(self, chosen: Target, lock: Lock, folder: Path) -> Vendored:
        """Bring every artefact that a lock names into a folder, each with its digest checked.

        What is kept elsewhere is copied; an index is asked for the rest alone. What neither this lock nor another one
        beside the folder names is removed. Raises BuildError or ResolveError.
        """
        files, artefacts = self._workplace.files, self._workplace.artefacts
        wanted = admitted(lock)
        present: dict[str, Path] = {}
        for place in (folder, *self.folders(lock, lock_digest(lock, chosen.manifest.build_requires), None)):
            for path in filter(files.is_plain_file, files.list(place)):
                digest = artefacts.digest(path)
                if digest in wanted and digest not in present:
                    present[digest] = path
        copied = {digest: path for digest, path in present.items() if path.parent != folder}
        for path in copied.values():
            files.copy(path, folder / path.name)
        fetched = 0
        if unmet(lock, frozenset(present)):
            fetched = self._fetch(chosen, lock, folder, present)
        self._sweep(folder, wanted | self._named_beside(folder))
        names = {path.name for path in present.values()}
        return Vendored(folder, len(names), sum(files.size(folder / name) for name in names), fetched)

    def keep(self, chosen: Target, lock: Lock, digest: str) -> None:
        """Keep the artefacts of what floats, by default; that they cannot be had now is told and stops nothing."""
        prune(self._workplace, chosen.label)
        place = self._workplace.project.kept / digest
        self._workplace.listener.on_event(Event("keep", chosen.label, f"{len(lock.distributions)} distributions"))
        try:
            self.vendor(chosen, lock, place / "wheels")
        except EnvmgrError as error:
            self._workplace.files.remove(place)
            self._workplace.listener.on_event(Event("warning", chosen.label, f"not kept: {error.what}"))
            return
        about = {"label": chosen.label, "platform": lock.platform, "kept_at": self._now()}
        self._workplace.files.write(place / _LOCK, render(lock))
        self._workplace.files.write(place / _ABOUT, json.dumps(about) + "\n")

    def told_gone(self, error: BuildError, lock: Lock, digest: str) -> BuildError:
        """Return the error of an artefact that has left its index with since when, and whether a copy is kept."""
        last = self._last_built(digest)
        folders = self.folders(lock, digest, None)
        copy = f"yes, but not of this ({folders[0]})" if folders else "no"
        told = f"gone from the index since {self._since(error.what)}{last}; vendored copy: {copy}"
        why = f"{error.why}; {told}"
        return BuildError(error.what, why, error.hint, phase=error.phase, gone=True).lacking(error.lacks)

    def _sweep(self, folder: Path, named: frozenset[str]) -> None:
        for path in self._workplace.files.list(folder):
            if self._workplace.artefacts.digest(path) not in named:
                self._workplace.files.remove(path)

    def _named_beside(self, folder: Path) -> frozenset[str]:
        """Return the digests that the locks beside a folder name."""
        texts = [self._workplace.files.read(path) for path in self._workplace.files.list(folder.parent)]
        return frozenset(digest for text in texts for digest in re.findall(r"sha256:([0-9a-f]{64})", text or ""))

    def _fetch(self, chosen: Target, lock: Lock, folder: Path, present: dict[str, Path]) -> int:
        fetched, settings = 0, true_settings(self._workplace)
        passwords = Passwords(self._workplace, lambda: settings)
        for part in (lock, of_builds(lock)):
            if not part.distributions:
                continue
            for artefact in artefacts_of(self._addresses(chosen, part)):
                if artefact.sha256 in present:
                    continue
                self._workplace.listener.on_event(Event("fetch", chosen.label, artefact.file))
                address = passwords.completed(with_credentials(artefact.url, settings))
                self._workplace.artefacts.fetch(address, folder / artefact.file, artefact.sha256)
                present[artefact.sha256] = folder / artefact.file
                fetched += 1
        missing = unmet(lock, frozenset(present))
        if missing:
            raise BuildError(
                f"{', '.join(missing)}: no artefact could be had",
                "wanted one of those that the lock names; the index gives addresses for none of them",
                "renew the lock (`envmgr lock NAME`), or name an index that still has them",
                phase=Phase.DOWNLOAD.value,
            )
        return fetched

    def _addresses(self, chosen: Target, part: Lock) -> str:
        try:
            return self._maker.with_addresses(chosen, part)
        except ResolveError as error:
            if not error.answered:
                raise
            phase = Phase.DOWNLOAD.value
            gone = BuildError(error.what, error.why, error.hint, phase=phase, gone=True).lacking(error.lacks)
            raise self.told_gone(gone, part, lock_digest(part, chosen.manifest.build_requires)) from error

    def _since(self, what: str) -> str:
        """Return the day on which it was first noticed that something is gone: today, if it was not known before."""
        files, path = self._workplace.files, self._workplace.project.state / "gone.json"
        known = _about(files.read(path))
        if what not in known:
            known[what] = self._now()[:10]
            files.write(path, json.dumps(known, indent=1) + "\n")
        return f"{known[what]} or before"

    def _last_built(self, digest: str) -> str:
        store = self._workplace.store
        for name in reversed(store.names()):
            with suppress(StoreError):  # a damaged run tells nothing
                head = store.head(name)
                if any(env.lock_digest == digest for env in head.envs.values()):
                    return f" (last measured {head.started_at[:10]} in run {head.id})"
        return ""

    def _now(self) -> str:
        return self._workplace.clock.now().isoformat(timespec="microseconds")


def praise(workplace: Workplace, digest: str) -> None:
    """Remember of what is kept that its cells came out well."""
    workplace.files.write(workplace.project.kept / digest / _GOOD, "its cells came out well\n")


def is_kept(workplace: Workplace, digest: str) -> bool:
    """Tell whether the artefacts of a lock are kept by default here."""
    return workplace.files.exists(workplace.project.kept / digest / _ABOUT)


def prune(workplace: Workplace, label: str) -> None:
    """Drop what is kept of a version set, except its latest good build and the latest of the others."""
    files = workplace.files
    kept = sorted(
        (about["kept_at"], place)
        for place in files.list(workplace.project.kept)
        if (about := _about(files.read(place / _ABOUT))).get("label") == label
    )
    good = [place for _, place in kept if files.exists(place / _GOOD)]
    others = [place for _, place in kept if place not in good]
    for place in (*good[:-1], *others[:-1]):
        files.remove(place)


def _about(text: str | None) -> dict[str, str]:
    try:
        found = json.loads(text or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
