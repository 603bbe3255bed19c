"""`kernel install`: an env as a kernel of Jupyter."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from envmgr.app.building import BuildWishes, Built
from envmgr.app.hand import build_named
from envmgr.app.hosting import true_settings
from envmgr.app.sharing import make_own
from envmgr.app.version import version
from envmgr.app.workplace import Workplace
from envmgr.env.uv import index_arguments, index_variables, network_environment
from envmgr.errors import BuildError
from envmgr.ports import ProcessRequest

_IPYKERNEL = "ipykernel"
_ENVMGR = (sys.executable, "-P", "-m", "envmgr")
"""The command that starts this very envmgr, whatever PATH Jupyter has."""


class Kernel(NamedTuple):
    """A kernel that Jupyter now offers; `added` are the distributions that it needed beside its env."""

    name: str
    display_name: str
    path: str
    argv: tuple[str, ...]
    added: tuple[str, ...]


def install_kernel(workplace: Workplace, name: str) -> Kernel:
    """Make an env a kernel of the user's Jupyter, built first if it is not there yet.

    The kernel runs as `envmgr run` runs a command: with a home, variables and device of its own. An env without
    ipykernel gets it beside itself, never into itself: it stays what its lock says. Raises BuildError.
    """
    built = build_named(workplace, name, BuildWishes())
    built = replace(built, env=make_own(workplace, built.env))
    beside = None if _IPYKERNEL in built.env.resolved else workplace.folders.cache / "kernels" / built.env.key
    added = _add_beside(workplace, built, beside) if beside else ()
    label = built.target.label
    argv = (*_ENVMGR, "run", *_project(workplace), label, "--", "python", "-c", _start(beside))
    argv += ("-f", "{connection_file}")
    folder = jupyter_folder(workplace.caller.environment, workplace.caller.home, workplace.caller.system)
    place = folder / "kernels" / f"envmgr-{label.lower().replace('@', '-')}"
    display = f"{label} (envmgr)"
    content = {"argv": argv, "display_name": display, "language": "python", "metadata": {"envmgr": version()}}
    workplace.files.write(place / "kernel.json", json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    return Kernel(place.name, display, str(place), argv, added)


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


def _project(workplace: Workplace) -> tuple[str, ...]:
    root = workplace.project.root
    return ("--project", str(root)) if root else ()


def _start(beside: Path | None) -> str:
    """Return the code that starts the kernel; what is beside the env is looked at after what is in it."""
    path = f"import sys; sys.path.append({str(beside)!r}); " if beside else ""
    return f"{path}from ipykernel.kernelapp import launch_new_instance; launch_new_instance()"


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
        raise BuildError(
            f"{built.target.label} cannot be a kernel",
            f"wanted ipykernel at versions that agree with it; uv says: {done.stderr.strip()}",
            f"give the manifest of {built.target.manifest.name} ipykernel among its requirements",
            phase="install",
        )
    infos = (path.name for path in workplace.files.list(folder) if path.name.endswith(".dist-info"))
    return tuple(name.removesuffix(".dist-info").replace("-", "==") for name in infos)
