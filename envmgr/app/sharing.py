"""Whether files of an env are names of those in uv's cache, and how such an env becomes one that may be written to."""

from __future__ import annotations

from pathlib import Path

from envmgr.app.place import HostPlace
from envmgr.env.accepted import MARKER, lock_of
from envmgr.env.compare import REBUILD
from envmgr.env.content import BuildRequest, HistoryContent
from envmgr.env.guard import Guard
from envmgr.model.env import Check, Env
from envmgr.model.sharing import Sharing
from envmgr.ports import Event


def shared(request: BuildRequest, place: HostPlace) -> BuildRequest:
    """Return a request that tells how the env's files share their bytes with uv's cache.

    Hard links serve where nothing but envmgr and what it confines can write: neither steps of a history nor what builds
    a source distribution is confined.
    """
    sharing, why = place.sharing
    if sharing == "hardlink":
        sharing, why = _hindered(request) or (sharing, why)
    switches = request.switches.model_copy(update={"sharing": sharing, "sharing_why": why})
    return request.model_copy(update={"switches": switches})


def _hindered(request: BuildRequest) -> tuple[Sharing, str] | None:
    if isinstance(request.content, HistoryContent):
        return "copy", "the steps of a history may write to what is installed"
    if request.content.sources.names:
        return "copy", f"{', '.join(request.content.sources.names)}: built from source, which runs code unconfined"
    return None


def make_own(place: HostPlace, env: Env) -> Env:
    """Return an env whose files share nothing with other envs, for the user's own hand; one that does not, as it is.

    Its files are replaced by copies one by one, and it is written down before and at the end: after a kill the rest is
    done by the next call. What had changed in it before still counts as changed. Where nothing can be written to its
    folder, it stays as it is: whoever is handed it cannot write there either.
    """
    folder, files = Path(env.path), place.files
    if not env.linked or not files.can_write(folder):
        return env
    with files.lock(lock_of(folder)):
        text = files.read(folder / MARKER)
        if text is None:
            return env
        told = Env.model_validate_json(text)
        if told.linked:
            place.listener.on_event(Event("copying", env.manifest, "its files get bytes of their own"))
            guard = Guard(files, place.process)
            changed = guard.changes(told)
            if not changed:
                guard.hand_over(told)
            files.detach(folder)
            told = told.model_copy(update={"sharing": "copy", "sharing_why": "it was handed to a command of the user"})
            files.write(folder / MARKER, told.model_dump_json(by_alias=True, indent=2))
            if not changed:
                guard.accept(told)
    return env.model_copy(update={"sharing": told.sharing, "sharing_why": told.sharing_why})


def untouched(place: HostPlace, env: Env) -> tuple[Check, ...]:
    """Return whether the files of an env that are links are still what was built: others can write to them, too."""
    if not env.linked:
        return ()
    folder = Path(env.path)
    with place.files.lock(lock_of(folder)):
        changed = Guard(place.files, place.process).changes(env)
    return (
        Check(
            name="untouched",
            passed=not changed,
            subject=env.manifest,
            wanted="the files that were linked",
            found=changed or "the same files",
            hint=REBUILD if changed else "",
        ),
    )
