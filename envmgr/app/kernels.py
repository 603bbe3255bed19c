"""Envs as kernels of Jupyter: install, start, list, remove."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from envmgr.app.building import BuildWishes, Built
from envmgr.app.hand import build_named, enter
from envmgr.app.hosting import true_settings
from envmgr.app.sharing import make_own
from envmgr.app.version import version
from envmgr.app.workplace import Workplace
from envmgr.env.uv import index_arguments, index_variables, network_environment
from envmgr.errors import BuildError, UsageError
from envmgr.manifest.faults import suggest
from envmgr.ports import ProcessRequest

_IPYKERNEL = "ipykernel"
_ENVMGR = (sys.executable, "-P", "-m", "envmgr")
"""The command that starts this very envmgr, whatever PATH Jupyter has."""
_WHOLE = ".whole"
"""The file that marks what is beside an env as installed to its end."""


class Kernel(NamedTuple):
    """A kernel that Jupyter now offers; `added` are the distributions that it needed beside its env."""

    name: str
    display_name: str
    path: str
    argv: tuple[str, ...]
    added: tuple[str, ...]


class KnownKernel(NamedTuple):
    """A kernel that envmgr has made; `project` is empty for a version set that envmgr ships."""

    name: str
    label: str
    project: str
    path: str


def install_kernel(workplace: Workplace, name: str) -> Kernel:
    """Make an env a kernel of the user's Jupyter, built first if it is not there yet.

    The kernel runs as `envmgr run` runs a command: with a home, variables and device of its own. An env without
    ipykernel gets it beside itself, never into itself: it stays what its lock says. Raises BuildError.
    """
    built = build_named(workplace, name, BuildWishes())
    make_own(workplace, built.env)
    beside = _beside(workplace, built)
    added = _add_beside(workplace, built, beside) if beside else ()
    label = built.target.label
    root = str(workplace.project.root or "")
    argv = (*_ENVMGR, "kernel", "start", *(("--project", root) if root else ()), label, "{connection_file}")
    place = _place(workplace, label, root)
    display = f"{label} (envmgr)" if place.name == _plain_name(label) else f"{label} (envmgr, {Path(root).name})"
    content = {
        "argv": argv,
        "display_name": display,
        "language": "python",
        "metadata": {"debugger": True, "envmgr": {"version": version(), "label": label, "project": root}},
    }
    workplace.files.write(place / "kernel.json", json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    return Kernel(place.name, display, str(place), argv, added)


def start_kernel(workplace: Workplace, name: str, connection_file: str) -> int:
    """Start an env's kernel for the Jupyter that asks; an env that was built anew meanwhile gets what is lacking."""
    built = build_named(workplace, name, BuildWishes())
    beside = _beside(workplace, built)
    if beside and not workplace.files.exists(beside / _WHOLE):
        _add_beside(workplace, built, beside)
    command = ("python", "-c", _start(beside), "-f", connection_file)
    return enter(workplace, built, None, command, staying=False)


def kernels_here(workplace: Workplace) -> tuple[KnownKernel, ...]:
    """Return the kernels of the user's Jupyter that envmgr has made."""
    return tuple(_known(workplace))


def remove_kernels(workplace: Workplace, name: str) -> tuple[KnownKernel, ...]:
    """Take an env's kernel, by its version set or by the name that Jupyter has for it, out of the user's Jupyter.

    Raises UsageError where there is none.
    """
    root = str(workplace.project.root or "")
    known = kernels_here(workplace)
    found = tuple(each for each in known if each.name == name or (each.label == name and each.project == root))
    if not found:
        others = [*(each.label for each in known if each.project == root), *(each.name for each in known)]
        raise UsageError(f"{name!r} is no kernel", suggest(name, dict.fromkeys(others)), "envmgr kernel list")
    for each in found:
        workplace.files.remove(Path(each.path))
    return found


def _known(workplace: Workplace) -> Iterator[KnownKernel]:
    for folder in workplace.files.list(_kernels(workplace)):
        try:
            told: Any = json.loads(workplace.files.read(folder / "kernel.json") or "{}")
            about = told["metadata"]["envmgr"]
            yield KnownKernel(folder.name, str(about["label"]), str(about["project"]), str(folder))
        except (ValueError, LookupError, TypeError):
            continue  # somebody else's


def _kernels(workplace: Workplace) -> Path:
    caller = workplace.caller
    return jupyter_folder(caller.environment, caller.home, caller.system) / "kernels"


def _plain_name(label: str) -> str:
    return f"envmgr-{label.lower().replace('@', '-')}"


def _place(workplace: Workplace, label: str, root: str) -> Path:
    """Return the folder of a kernel; version sets of one name in two projects do not take each other's."""
    folder, plain = _kernels(workplace), _plain_name(label)
    owners = {each.name: each.project for each in _known(workplace)}
    if owners.get(plain, root) == root:
        return folder / plain
    project = re.sub(r"[^a-z0-9.-]", "-", Path(root).name.lower())
    return folder / f"{plain}-{project}-{hashlib.sha256(root.encode()).hexdigest()[:6]}"


def _beside(workplace: Workplace, built: Built) -> Path | None:
    """Return the folder for what the kernel needs beside its env, None if the env has it all."""
    return None if _IPYKERNEL in built.env.resolved else workplace.folder_of("kernels") / built.env.key


def jupyter_folder(environment: Mapping[str, str], home: Path, system: str) -> Path:
    """Return where the user's Jupyter keeps its data.

    >>> jupyter_folder({}, Path("/home/ann"), "linux").as_posix()
    '/home/ann/.local/share/jupyter'
    """
    if environment.get("JUPYTER_DATA_DIR"):
        return Path(environment["JUPYTER_DATA_DIR"])
    if system == "darwin":
        return home / "Library" / "Jupyter"
    if system == "win32":
        return Path(environment.get("APPDATA") or home / "AppData" / "Roaming") / "jupyter"
    return Path(environment.get("XDG_DATA_HOME") or home / ".local" / "share") / "jupyter"


def _start(beside: Path | None) -> str:
    """Return the code that starts the kernel; what is beside the env is looked at after what is in it.

    Files of the notebook's folder hide nothing that the kernel imports; IPython puts the folder in front afterwards.
    """
    path = f"sys.path.append({str(beside)!r}); " if beside else ""
    launch = "from ipykernel.kernelapp import launch_new_instance; launch_new_instance()"
    return f"import sys; del sys.path[0]; {path}{launch}"


def _add_beside(workplace: Workplace, built: Built, folder: Path) -> tuple[str, ...]:
    """Install ipykernel into a folder of its own, at versions that agree with those in the env."""
    settings = true_settings(workplace)
    environment = {
        **network_environment(settings, workplace.caller.environment),
        **index_variables(settings),
        "UV_CACHE_DIR": str(workplace.uv_cache),
        "UV_NO_PROGRESS": "1",
        "NO_COLOR": "1",
    }
    with workplace.files.scratch("kernel") as scratch:
        constraints = scratch / "constraints.txt"
        pins = "".join(f"{name}=={version}\n" for name, version in sorted(built.env.resolved.items()))
        workplace.files.write(constraints, pins)
        command = [str(workplace.uv), "pip", "install", "--no-config", "--python", built.env.python]
        command += ["--target", str(folder), "--constraints", str(constraints), "--link-mode", "copy"]
        done = workplace.process.run(
            ProcessRequest((*command, *index_arguments(settings), _IPYKERNEL), cwd=scratch, env=environment)
        )
    if not done.good:
        said = "\n".join(line for line in done.stderr.strip().splitlines() if not line.startswith("Using "))
        raise BuildError(
            f"{built.target.label} cannot be a kernel",
            f"it has no ipykernel, and none that agrees with it could be put beside it; uv says: {said}",
            f'give the manifest of {built.target.manifest.name} "ipykernel" among its requirements',
            phase="install",
        )
    workplace.files.write(folder / _WHOLE, "")
    infos = (path.name for path in workplace.files.list(folder) if path.name.endswith(".dist-info"))
    return tuple(name.removesuffix(".dist-info").replace("-", "==") for name in infos)
