"""What is in view of a command line: names read off the disk as it stands, whatever is amiss there.

Nothing heavy is imported: whoever types waits for it. `given` holds the values that the line has given so far.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from envmgr.app.whereabouts import Project, find_project
from envmgr.errors import EnvmgrError

_APIS = ("cpu", "cuda", "llvm", "metal", "mps", "opencl", "rocm")
_RUN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,120}")

Given = Mapping[str, Sequence[str] | None]


class _Disk:
    """As much of the disk as finding a project needs; what cannot be read is not there."""

    def is_folder(self, path: Path) -> bool:
        return path.is_dir()

    def list(self, folder: Path) -> list[Path]:
        try:
            return sorted(folder.iterdir())
        except OSError:
            return []


def names(given: Given, incomplete: str) -> list[str]:
    """Return the manifests in view, after `NAME@` the variants of that one."""
    project = _project(given)
    stem, at, _ = incomplete.partition("@")
    return [f"{stem}@{each}" for each in _variants(project, stem)] if at else _stems(project.manifests, ".toml")


def matrices(given: Given) -> list[str]:
    """Return the matrices in view."""
    return sorted({name for folder in _project(given).matrix_folders for name in _stems(folder, ".toml")})


def runners(given: Given) -> list[str]:
    """Return the runners in view."""
    return sorted({name for folder in _project(given).runner_folders for name in _stems(folder, ".py")})


def runs(given: Given) -> list[str]:
    """Return the stored runs, the newest first."""
    return [*_runs(_project(given)), "latest"]


def cells(given: Given, incomplete: str) -> list[str]:
    """Return the cells of the latest run, after `RUN#` those of that one."""
    project = _project(given)
    run, mark, _ = incomplete.partition("#")
    if mark:
        return [f"{run}#{cell['id']}" for cell in _cells(project, run)]
    return list(dict.fromkeys(_cell_name(cell) for cell in _cells(project, "latest")))


def names_and_cells(given: Given, incomplete: str) -> list[str]:
    """Return the manifests in view, after `RUN#` the cells of that run."""
    return cells(given, incomplete) if "#" in incomplete else names(given, incomplete)


def names_and_runs(given: Given, incomplete: str) -> list[str]:
    """Return the manifests and the runs in view."""
    return [*names(given, incomplete), *runs(given)]


def devices(given: Given) -> list[str]:
    """Return the devices that the manifests in question name or were measured on, then the ways to any."""
    project = _project(given)
    asked = {name.partition("@")[0] for key in ("name", "names", "env") for name in _given(given, key)}
    wanted = asked & set(_stems(project.manifests, ".toml")) or set(_stems(project.manifests, ".toml"))
    named = [device for name in sorted(wanted) for device in _named_devices(_manifest(project, name))]
    cells = (cell for cell in _cells(project, "latest") if cell.get("manifest") in wanted)
    measured = [device.get("id") for cell in cells if isinstance(device := cell.get("device"), dict)]
    return list(dict.fromkeys(str(device) for device in (*named, *measured, *_APIS) if device))


def _project(given: Given) -> Project:
    """Return the project that the line is about; where it names one that is none, nothing is in view."""
    asked = next(iter(_given(given, "project")), None)
    try:
        return find_project(Path.cwd(), Path(asked).expanduser() if asked else None, _state(), _Disk())
    except EnvmgrError:
        nowhere = Path(os.devnull)
        return Project(None, nowhere, (), nowhere)


def _state() -> Path:
    named = os.environ.get("ENVMGR_STATE_DIR")
    if named:
        return Path(named)
    import platformdirs

    return Path(platformdirs.user_state_dir("envmgr", appauthor=False))


def _given(given: Given, key: str) -> list[str]:
    return list(given.get(key) or ())


def _stems(folder: Path, suffix: str) -> list[str]:
    return [path.stem for path in _Disk().list(folder) if path.suffix == suffix]


def _manifest(project: Project, name: str) -> Mapping[str, Any]:
    try:
        return tomllib.loads((project.manifests / f"{name}.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def _variants(project: Project, name: str) -> list[str]:
    variants = _manifest(project, name).get("variants")
    pythons = variants.get("python") if isinstance(variants, dict) else None
    return [f"py{python}" for python in pythons] if isinstance(pythons, list) else []


def _named_devices(manifest: Mapping[str, Any]) -> list[Any]:
    expected = manifest.get("expect")
    tables: Iterable[Any] = expected if isinstance(expected, list) else ()
    return [table.get("device") for table in (manifest, *tables) if isinstance(table, dict)]


def _runs(project: Project) -> list[str]:
    folders = (path for path in _Disk().list(project.runs) if _RUN.fullmatch(path.name))
    return sorted((path.name for path in folders if (path / "run.json").exists()), reverse=True)


def _cells(project: Project, run: str) -> list[Mapping[str, Any]]:
    known = _runs(project)
    found = known[:1] if run == "latest" else [name for name in known if name.startswith(run)][:1]
    try:
        cells = json.loads((project.runs / found[0] / "run.json").read_text(encoding="utf-8"))["plan"]["cells"]
    except (OSError, ValueError, LookupError, TypeError):
        return []
    return [cell for cell in cells if isinstance(cell, dict) and "id" in cell] if isinstance(cells, list) else []


def _cell_name(cell: Mapping[str, Any]) -> str:
    device = cell["device"].get("id") if isinstance(cell.get("device"), dict) else cell.get("device_asked")
    variant = "" if cell.get("variant") == "default" else f"@{cell.get('variant')}"
    return f"{cell.get('manifest')}{variant}/{cell.get('runner')}" + (f"/{device}" if device else "")
