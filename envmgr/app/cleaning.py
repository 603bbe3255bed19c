"""Giving disk space back: built envs and what interrupted builds left."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from envmgr.app.workplace import Workplace
from envmgr.env.accepted import MARKER, lock_of, record_of
from envmgr.env.linked import known_wheels
from envmgr.errors import NothingSelectedError
from envmgr.model.env import Env
from envmgr.system.receipts import spent

_LOCK = ".lock"


class Rubbish(NamedTuple):
    """A folder that can be removed: what it is, and the bytes that this gives back once those before it are removed.

    A file that has other names, in uv's cache or in another env, gives nothing back before the last of them goes.
    """

    path: str
    what: str
    manifest: str
    size: int = 0


def find_rubbish(workplace: Workplace, names: Sequence[str], older_than: int | None) -> tuple[Rubbish, ...]:
    """Return what `clean` would remove; raises NothingSelectedError when that is nothing.

    Without names, that is every env of this user, with what failed builds and cells have left. Names are manifests:
    envs that were built for one of them.
    """
    everything = list(_envs(workplace, names, older_than))
    if not names and older_than is None:
        everything += _leftovers(workplace)
    found = [item for item in everything if not _in_use(workplace, Path(item.path))]
    if not found:
        looked = f"looked in {workplace.folders.cache}" + (f" for {', '.join(names)}" if names else "")
        in_use = f"; {len(everything)} in use by other processes" if everything else ""
        raise NothingSelectedError("there is nothing to remove", looked + in_use, "envmgr list")
    return _measured(workplace, found)


def _measured(workplace: Workplace, found: Sequence[Rubbish]) -> tuple[Rubbish, ...]:
    """Return folders with what removing them gives back, one after the other; answers have their own sum."""
    folders = [item for item in found if item.path != str(_receipts(workplace))]
    sizes = dict(zip(folders, workplace.files.given_back([Path(item.path) for item in folders]), strict=True))
    return tuple(item._replace(size=sizes.get(item, item.size)) for item in found)


def remove(workplace: Workplace, rubbish: Sequence[Rubbish], *, everything: bool) -> tuple[Rubbish, ...]:
    """Remove folders and return those that are gone: what another process has begun to use meanwhile stays.

    An env goes under its lock and is moved away first, so that nobody is served half of it. Of a link in its place the
    link alone goes. With them go the locks and the remembered answers of what is no more. Where `everything` was to be
    removed and no env is left, it is forgotten, too, which files of uv's cache were found good; who removes one env by
    its name may well build it again.
    """
    gone = tuple(item for item in rubbish if _removed(workplace, Path(item.path)))
    for path in (*_free_locks(workplace), _receipts(workplace)):
        _removed(workplace, path)
    if everything and not any(workplace.files.is_folder(path) for path in workplace.files.list(workplace.folders.envs)):
        workplace.files.remove(known_wheels(workplace.folders.envs))
    return gone


def _removed(workplace: Workplace, path: Path) -> bool:
    files = workplace.files
    if path == _receipts(workplace):
        for receipt in spent(str(workplace.folders.cache)):
            files.remove(Path(receipt))
        return True
    if path.name.endswith(_LOCK):
        return files.drop_lock(path)
    if path.parent != workplace.folders.envs:
        files.remove(path)
        return True
    with files.lock(lock_of(path)):
        if files.is_claimed(path):
            return False
        files.remove(record_of(path))
        with files.scratch("clean") as aside:
            files.move(path, aside / "env")
    return True


def _in_use(workplace: Workplace, path: Path) -> bool:
    """Tell whether a running process uses an env, a home that goes with one, or a folder of scratch."""
    if path.parent == workplace.folders.scratch:
        return not workplace.files.is_orphan(path)
    return workplace.files.is_claimed(workplace.folders.envs / path.name)


def _envs(workplace: Workplace, names: Sequence[str], older_than: int | None) -> list[Rubbish]:
    wanted = {name.partition("@")[0] for name in names}
    limit = workplace.clock.now() - timedelta(days=older_than) if older_than is not None else None
    found = []
    for folder in workplace.files.list(workplace.folders.envs):
        if not workplace.files.is_folder(folder):
            continue
        env = _marked(workplace, folder)
        if env is None:
            if not names and limit is None:
                found.append(Rubbish(str(folder), "left by an unfinished build", ""))
            continue
        too_new = limit is not None and datetime.fromisoformat(env.built_at) > limit
        if (not wanted or env.manifest in wanted) and not too_new:
            found.append(Rubbish(str(folder), f"environment built {env.built_at}", env.manifest))
    return found


def _leftovers(workplace: Workplace) -> list[Rubbish]:
    kinds = {
        "scratch": "scratch of processes that were killed",
        "homes": "homes of `envmgr run` and `shell`",
        "kernels": "what kernels of Jupyter need beside environments",
        "set-aside": "an environment that a runner has changed",
    }
    found = []
    for base in (workplace.folders.cache, workplace.folders.state):  # in the latter while the cache is only read
        for name, what in kinds.items():
            found += [Rubbish(str(path), what, "") for path in workplace.files.list(base / name)]
    found += [Rubbish(str(path), "the lock of an environment that is gone", "") for path in _free_locks(workplace)]
    receipts = spent(str(workplace.folders.cache))
    if receipts:
        size = sum(workplace.files.size(Path(path)) for path in receipts)
        found.append(
            Rubbish(str(_receipts(workplace)), f"{len(receipts)} remembered answers that hold no more", "", size)
        )
    return found


def _receipts(workplace: Workplace) -> Path:
    return workplace.folders.cache / "receipts"


def _free_locks(workplace: Workplace) -> tuple[Path, ...]:
    """Return the locks of environments that are not there: they are taken away unless somebody holds them."""
    files = workplace.files
    locks = (path for path in files.list(workplace.folders.envs) if path.name.endswith(_LOCK))
    return tuple(path for path in locks if not files.exists(path.with_name(path.name.removesuffix(_LOCK))))


def _marked(workplace: Workplace, folder: Path) -> Env | None:
    text = workplace.files.read(folder / MARKER)
    if text is None:
        return None
    try:
        return Env.model_validate_json(text)
    except ValidationError:
        return None
