"""The environment variables of a cell: an allow-list of the caller's, a home of its own, the device, the manifest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from envmgr.model.host import System

_PASSED_ON = frozenset(
    {
        "LANG",
        "LANGUAGE",
        "TZ",
        "TERM",
        "COLORTERM",
        "NO_COLOR",
        "USER",
        "LOGNAME",
        "USERNAME",
        "TEMP",
        "TMP",
        "TMPDIR",
        "SYSTEMROOT",
        "SYSTEMDRIVE",
        "WINDIR",
        "COMSPEC",
        "PATHEXT",
        "PROCESSOR_ARCHITECTURE",
        "NUMBER_OF_PROCESSORS",
        "PROGRAMDATA",
        "PROGRAMFILES",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "REQUESTS_CA_BUNDLE",
        "CURL_CA_BUNDLE",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "NO_PROXY",
        "OMP_NUM_THREADS",
        "MKL_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "OPENBLAS_CORETYPE",
        "VECLIB_MAXIMUM_THREADS",
        "NUMEXPR_NUM_THREADS",
        "CUDA_VISIBLE_DEVICES",
        "HIP_VISIBLE_DEVICES",
        "ROCR_VISIBLE_DEVICES",
        "OCL_ICD_VENDORS",
        "OCL_ICD_FILENAMES",
    }
)
_PASSED_ON_PREFIXES = ("LC_", "POCL_")

_SYSTEM_PATH = {
    "linux": ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"),
    "macos": ("/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"),
    "windows": ("{root}\\System32", "{root}", "{root}\\System32\\Wbem"),
}


@dataclass(frozen=True, slots=True)
class CellPlace:
    """Where a cell runs: its env's folder, a home of its own, the project, the system."""

    env: Path
    home: Path
    project: Path
    system: System


@dataclass(frozen=True, slots=True)
class CellWishes:
    """What decides a cell's variables: its backend and device, then the manifest, which has the last word."""

    backend: Mapping[str, str] = field(default_factory=dict)
    manifest: Mapping[str, str] = field(default_factory=dict)
    unset: Iterable[str] = ()


def cell_environment(caller: Mapping[str, str], place: CellPlace, wishes: CellWishes) -> dict[str, str]:
    """Return the complete environment of a cell.

    What the caller has set for Python, pip, uv or a machine-learning library gets in on no path: only a list of
    harmless names is passed on, less what the manifest unsets. In the manifest's values `{project}`, `{venv}` and
    `{home}` stand for the folders.
    """
    withheld = {name.upper() for name in wishes.unset}
    environment = {name: value for name, value in caller.items() if _harmless(name) and name.upper() not in withheld}
    environment.update(_own(caller, place))
    environment.update(wishes.backend)
    environment.update({name: _fill(value, place) for name, value in wishes.manifest.items()})
    return environment


def _harmless(name: str) -> bool:
    upper = name.upper()
    return upper in _PASSED_ON or upper.startswith(_PASSED_ON_PREFIXES)


def _own(caller: Mapping[str, str], place: CellPlace) -> dict[str, str]:
    home = place.home
    windows = place.system == "windows"
    root = caller.get("SYSTEMROOT") or caller.get("SystemRoot") or "C:\\Windows"
    own_programs = place.env / ("Scripts" if windows else "bin")
    search = [str(own_programs), *(part.replace("{root}", root) for part in _SYSTEM_PATH[place.system])]
    environment = {
        "PATH": (";" if windows else ":").join(search),
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_DATA_HOME": str(home / ".local" / "share"),
        "XDG_STATE_HOME": str(home / ".local" / "state"),
        "VIRTUAL_ENV": str(place.env),
        "PYTHONNOUSERSITE": "1",
        "PYTHONIOENCODING": "utf-8",
    }
    if windows:
        environment |= {
            "USERPROFILE": str(home),
            "APPDATA": str(home / "AppData" / "Roaming"),
            "LOCALAPPDATA": str(home / "AppData" / "Local"),
        }
    return environment


def _fill(value: str, place: CellPlace) -> str:
    folders = {"{project}": place.project, "{venv}": place.env, "{home}": place.home}
    for name, folder in folders.items():
        value = value.replace(name, str(folder))
    return value
