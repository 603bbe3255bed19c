"""What a cell's home holds of the user's own files."""

from __future__ import annotations

from pathlib import Path

from envmgr.app.place import HostPlace
from envmgr.errors import ManifestError
from envmgr.model.manifest import Manifest


def lay_data(place: HostPlace, manifest: Manifest, home: Path) -> tuple[Path, ...]:
    """Give a cell's home its own copy of the weights and data sets that the manifest names under `data`.

    A copy (a clone, where the file system has them) cannot be written through: the user's files stay as they are. What
    is named below the user's home has the same place below the cell's; what is in the project stands below `data/`.
    Returns the places of the copies.
    """
    laid = []
    for name in manifest.data:
        source = Path(name.replace("~", str(place.caller.home), 1)) if name.startswith("~") else Path(name)
        if not source.is_absolute():
            source = place.base / source
            _refuse_outside(name, source, place.base)
        if not place.files.identity(source):
            continue
        below_home = source.is_relative_to(place.caller.home)
        in_project = Path("data", *(part for part in Path(name).parts if part not in {"/", "."}))
        target = home / source.relative_to(place.caller.home) if below_home else home / in_project
        place.files.copy(source, target)
        laid.append(target)
    return tuple(laid)


def _refuse_outside(name: str, source: Path, project: Path) -> None:
    """Raise a ManifestError if a path of the project leads out of it by a link."""
    real = source.resolve()
    if not real.is_relative_to(project.resolve()):
        raise ManifestError(
            f"data: {name!r} leaves the project",
            f"wanted ~/… or a path inside the project; found a link to {real}",
            "put the data into the project, or name it from the home folder",
        )
