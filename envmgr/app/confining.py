"""Where a cell may write, besides its own folder."""

from __future__ import annotations

from pathlib import Path

from envmgr.app.place import HostPlace
from envmgr.model.env import Env
from envmgr.model.manifest import Manifest

TEMPORARY = "tmp"
"""Where in a cell's home its temporary files lie."""
LONGEST_TEMPORARY = 72
"""Characters of a folder's path that leave room for the sockets that Python makes in it: the system takes 107."""


def own_temporary(place: HostPlace, manifest: Manifest, home: Path) -> dict[str, str]:
    """Return variables for a folder of temporary files in a cell's home, unless sockets in it had too long a name."""
    folder = home / TEMPORARY
    if len(str(folder)) > LONGEST_TEMPORARY:
        return {}
    place.files.make_folder(folder)
    return {name: str(folder) for name in ("TMPDIR", "TEMP", "TMP") if name not in manifest.env}


def writable_of(place: HostPlace, env: Env) -> tuple[Path, ...]:
    """Return where in an env a process may write that may write to it: everywhere, or bytecode alone.

    Files of an env that are links reach other envs. Bytecode has folders of its own, which share nothing.
    """
    folder = Path(env.path)
    return place.files.places_of_bytecode(folder) if env.linked else (folder,)


def outside(place: HostPlace) -> tuple[Path, ...]:
    """Return the folders besides its own that a cell may write to: devices, and temporary ones that hold nothing else.

    A folder in which the project, the user's home or an environment lies is none of them.
    """
    folders = place.folders
    precious = (place.base, place.caller.home, folders.cache, folders.state, place.uv_cache)
    temporary = (Path(place.caller.environment.get("TMPDIR") or "/tmp"), Path("/tmp"), Path("/var/tmp"))  # noqa: S108
    safe = [path for path in temporary if not any(each.resolve().is_relative_to(path.resolve()) for each in precious)]
    return (Path("/dev"), Path("/proc"), *dict.fromkeys(safe))
