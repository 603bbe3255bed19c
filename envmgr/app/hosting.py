"""What this host is, or what a file says of another one."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from envmgr.app.place import HostPlace
from envmgr.errors import UsageError
from envmgr.fleet.local import LocalExecutor
from envmgr.host.facts import gather
from envmgr.host.pythons import install_python
from envmgr.host.settings import read_settings
from envmgr.host.surroundings import Means, Surroundings, system_of
from envmgr.model.host import HostFacts, InstallerSettings, Interpreter

_PROBES_AT_ONCE = 4


def facts_here(workplace: HostPlace, python: str | None = None, *, downloads: bool = True) -> HostFacts:
    """Return the facts of this machine; `python` adds an interpreter that the user names."""
    return gather(_means(workplace), _surroundings(workplace, python, downloads=downloads), workplace.folders.cache)


def pythons_here(workplace: HostPlace, python: str | None = None, *, downloads: bool = True) -> HostFacts:
    """Return of the facts of this machine only what decides which env is meant, and can be built: its Pythons."""
    around = _surroundings(workplace, python, downloads=downloads)
    return gather(_means(workplace), around, workplace.folders.cache, brief=True)


def facts_of(workplace: HostPlace, path: Path | None, python: str | None = None) -> HostFacts:
    """Return the facts that a file holds, or those of this machine where no file is named."""
    if path is None:
        return facts_here(workplace, python)
    text = workplace.files.read(path)
    if text is None:
        raise UsageError(f"{path} cannot be read", "wanted host facts as JSON", "make them with: envmgr doctor --json")
    try:
        return HostFacts.model_validate_json(text)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in fault["loc"])
        raise UsageError(
            f"{path} holds no host facts",
            f"{place}: {fault['msg']}" if place else fault["msg"],
            "take the `facts` of: envmgr doctor --json",
        ) from None


def true_settings(workplace: HostPlace) -> InstallerSettings:
    """Return pip's and uv's own configuration with its credentials: for installers, never to be shown."""
    return read_settings(_means(workplace), _surroundings(workplace, None, downloads=True))


def fetch_python(workplace: HostPlace, request: str, *, downloads: bool) -> Interpreter:
    """Fetch a Python through uv, with its progress shown; raises HostError when it cannot be had."""
    around = _surroundings(workplace, None, downloads=downloads)
    return install_python(_means(workplace), around, request, workplace.folders.cache)


def _means(workplace: HostPlace) -> Means:
    return Means(workplace.process, workplace.files, LocalExecutor(_PROBES_AT_ONCE))


def _surroundings(workplace: HostPlace, python: str | None, *, downloads: bool) -> Surroundings:
    return Surroundings(
        system=system_of(workplace.caller.system),
        environment=workplace.caller.environment,
        home=workplace.caller.home,
        python_request=python,
        uv=str(workplace.uv),
        downloads=downloads,
        place=workplace.caller.folder,
    )
