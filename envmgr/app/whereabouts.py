"""Where a project stands: its folders, found from a folder upwards."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import envmgr
from envmgr.errors import UsageError


class Folders(Protocol):
    """As much of the file system as finding a project needs."""

    def is_folder(self, path: Path) -> bool: ...
    def list(self, folder: Path) -> Iterable[Path]: ...


@dataclass(frozen=True, slots=True)
class Project:
    """The folders of one project; `root` is None when only what envmgr ships is in view."""

    root: Path | None
    manifests: Path
    runner_folders: tuple[Path, ...]
    state: Path

    @property
    def locks(self) -> Path:
        """The folder of committed locks."""
        return self.manifests / "locks"

    @property
    def own_locks(self) -> Path:
        """The folder of locks made here, for manifests whose own folder is not to be written."""
        return self.state / "locks"

    @property
    def kept(self) -> Path:
        """The folder of artefacts that are kept by default, one folder a lock."""
        return self.state / "kept"

    @property
    def matrix_folders(self) -> tuple[Path, Path]:
        """The folders of matrices: the project's own, and that of those which envmgr ships."""
        return self.manifests / "matrices", shipped_folder() / "manifests" / "matrices"

    def shown(self, path: Path) -> str:
        """Return a path as errors show it: from the project's folder."""
        return str(path.relative_to(self.root)) if self.root and path.is_relative_to(self.root) else str(path)

    @property
    def runs(self) -> Path:
        """The folder of results."""
        return self.state / "runs"


def shipped_folder() -> Path:
    """Return the folder that holds the `manifests/` and `runners/` that travel with envmgr.

    In a wheel they lie inside the package, in a checkout beside it.
    """
    package = Path(envmgr.__file__).resolve().parent
    inside = package / "shipped"
    return inside if inside.is_dir() else package.parent


def find_project(start: Path, asked: Path | None, fallback_state: Path, files: Folders) -> Project:
    """Find the project from `start` upwards (or take the one asked for); without one, show what envmgr ships."""
    if asked is not None:
        if not files.is_folder(asked / "manifests"):
            raise UsageError(
                f"{asked} is no envmgr project",
                "wanted a folder with manifests/ in it",
                f"envmgr init --project {asked}",
            )
        return _project_at(asked.resolve())
    for folder in (start, *start.parents):
        if any(path.suffix == ".toml" for path in files.list(folder / "manifests")):
            return _project_at(folder.resolve())
    shipped = shipped_folder()
    return Project(None, shipped / "manifests", (shipped / "runners",), fallback_state)


def _project_at(root: Path) -> Project:
    runner_folders = tuple(dict.fromkeys((root / "runners", shipped_folder() / "runners")))
    return Project(root, root / "manifests", runner_folders, root / ".envmgr")
