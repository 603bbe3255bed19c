"""Where Pythons may be on this machine: places, in the order in which they are preferred; nothing is started yet."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from envmgr.host.surroundings import Means, Surroundings

_PYTHON_NAME = re.compile(r"^(python|pypy|graalpy)([23](\.\d+)?t?)?(\.exe)?$")
_CONDA_FOLDERS = ("miniforge3", "mambaforge", "miniconda3", "anaconda3", "micromamba")
_CONDA_PLACES = (
    "/opt/conda",
    "/opt/miniforge3",
    "/opt/miniconda3",
    "/opt/anaconda3",
    "/opt/homebrew/Caskroom/miniforge/base",
    "/opt/homebrew/Caskroom/miniconda/base",
    "/usr/local/Caskroom/miniforge/base",
    "/usr/local/Caskroom/miniconda/base",
)
_SYSTEM_FOLDERS = (Path("/opt/homebrew/bin"), Path("/usr/local/bin"), Path("/usr/bin"))
_FRAMEWORKS = Path("/Library/Frameworks/Python.framework/Versions")
_APPLE_TOOLS = (
    Path("/Library/Developer/CommandLineTools/usr/bin"),
    Path("/Applications/Xcode.app/Contents/Developer/usr/bin"),
)
_PY_LINE = re.compile(r"^\s*-\S+\s+\*?\s*(?P<path>[A-Za-z]:\\.*?\.exe)\s*\*?\s*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file that may be a Python, and who knows of it."""

    path: Path
    source: str


def find_candidates(means: Means, around: Surroundings, managed: str) -> tuple[Candidate, ...]:
    """Return every file that may be a Python, each file once; virtual environments stand for the base they name.

    Shims are left out: what they lead to is found in the folder of the tool that made them. `managed` is the folder of
    uv's own Pythons, if there is one.
    """
    found: dict[str, Candidate] = {}
    for candidate in _everywhere(means, around, managed):
        for real in _without_virtual(means, candidate):
            identity = means.files.identity(real.path)
            if identity:
                found.setdefault(identity, real)
            elif real.source == "option":
                found.setdefault(str(real.path), real)
    return tuple(found.values())


def requested_path(around: Surroundings) -> Path | None:
    """Return the Python that was asked for by path, or None when it was asked for by version or not at all."""
    request = around.python_request or ""
    if "/" in request or "\\" in request or request.endswith(".exe"):
        return around.home / request[2:] if request.startswith("~/") else Path(request)
    return None


def parse_py_launcher(text: str) -> tuple[Path, ...]:
    r"""Return the paths that `py -0p` lists.

    >>> [str(path) for path in parse_py_launcher(" -V:3.11 *        C:\\Python311\\python.exe\n")]
    ['C:\\Python311\\python.exe']
    """
    matches = (_PY_LINE.match(line) for line in text.splitlines())
    return tuple(Path(match["path"]) for match in matches if match)


def parse_virtual_config(text: str) -> tuple[str, str]:
    """Return the `home` folder and the base `executable` that a pyvenv.cfg names, "" for what it does not name."""
    pairs = (line.partition("=") for line in text.splitlines())
    values = {key.strip().lower(): value.strip() for key, _, value in pairs}
    return values.get("home", ""), values.get("base-executable", "") or values.get("executable", "")


def _everywhere(means: Means, around: Surroundings, managed: str) -> Iterator[Candidate]:
    asked = requested_path(around)
    if asked is not None:
        yield Candidate(asked, "option")
    yield from _of_version_managers(means, around)
    for version in means.files.list(Path(managed)) if managed else ():
        yield from _in_prefix(means, around, version, "uv")
    yield from _of_conda(means, around)
    if around.system == "windows":
        for path in parse_py_launcher(means.output("py", "-0p")):
            yield Candidate(path, "py-launcher")
    for folder in around.folders("PATH"):
        if not _is_shim_folder(around, folder):
            yield from _in_folder(means, folder, "path")
    yield from _of_system(means, around)


def _of_version_managers(means: Means, around: Surroundings) -> Iterator[Candidate]:
    home = around.home
    pyenv = around.folder("PYENV_ROOT", home / ".pyenv")
    mise = around.folder("MISE_DATA_DIR", around.folder("XDG_DATA_HOME", home / ".local" / "share") / "mise")
    places = [(pyenv / "versions", "pyenv")]
    if around.system == "windows":
        places.append((around.folder("PYENV", home / ".pyenv" / "pyenv-win") / "versions", "pyenv"))
    places.append((around.folder("ASDF_DATA_DIR", home / ".asdf") / "installs" / "python", "asdf"))
    places.append((mise / "installs" / "python", "mise"))
    for folder, source in places:
        for version in means.files.list(folder):
            yield from _in_prefix(means, around, version, source)


def _of_conda(means: Means, around: Surroundings) -> Iterator[Candidate]:
    home = around.home
    roots = [home / name for name in _CONDA_FOLDERS] + [Path(place) for place in _CONDA_PLACES]
    for variable in ("CONDA_PREFIX", "MAMBA_ROOT_PREFIX", "CONDA_ROOT"):
        if around.environment.get(variable):
            roots.insert(0, Path(around.environment[variable]))
    if around.environment.get("CONDA_EXE"):
        roots.insert(0, Path(around.environment["CONDA_EXE"]).parent.parent)
    listed = means.read(home / ".conda" / "environments.txt") or ""
    roots.extend(Path(line.strip()) for line in listed.splitlines() if line.strip())
    for root in dict.fromkeys(roots):
        yield from _in_prefix(means, around, root, "conda")
        for env in means.files.list(root / "envs"):
            yield from _in_prefix(means, around, env, "conda")


def _of_system(means: Means, around: Surroundings) -> Iterator[Candidate]:
    if around.system == "windows":
        return
    for folder in _SYSTEM_FOLDERS:
        if not _is_shim_folder(around, folder):
            yield from _in_folder(means, folder, "system")
    if around.system == "macos":
        for version in means.files.list(_FRAMEWORKS):
            yield from _in_prefix(means, around, version, "system")
        for folder in _APPLE_TOOLS:
            yield from _in_folder(means, folder, "system")


def _is_shim_folder(around: Surroundings, folder: Path) -> bool:
    """Tell a folder whose `python` only chooses another one.

    On macOS /usr/bin/python3 is one, too: without the developer tools it opens a dialogue.
    """
    return folder.name == "shims" or (around.system == "macos" and folder == Path("/usr/bin"))


def _in_prefix(means: Means, around: Surroundings, prefix: Path, source: str) -> Iterator[Candidate]:
    folder = prefix if around.system == "windows" else prefix / "bin"
    yield from _in_folder(means, folder, source)


def _in_folder(means: Means, folder: Path, source: str) -> Iterator[Candidate]:
    for name in means.files.names(folder):
        if _PYTHON_NAME.match(name.lower()) and not means.files.is_folder(folder / name):
            yield Candidate(folder / name, source)


def _without_virtual(means: Means, candidate: Candidate) -> Iterator[Candidate]:
    config = _virtual_config(means, candidate.path)
    if config is None:
        yield candidate
        return
    home, executable = parse_virtual_config(config)
    bases = [Path(executable)] if executable else []
    bases += [base.path for base in _in_folder(means, Path(home), candidate.source)] if home else []
    for base in bases:
        if _virtual_config(means, base) is None and base.parent.name != "shims":
            yield Candidate(base, candidate.source)
            if candidate.source == "option":
                return


def _virtual_config(means: Means, path: Path) -> str | None:
    beside = means.read(path.parent / "pyvenv.cfg")
    return means.read(path.parent.parent / "pyvenv.cfg") if beside is None else beside
