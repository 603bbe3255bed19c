"""The variables of experiments: of a probe, which gets the caller's, and of an installer, which gets most of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from envmgr.app.experiments.commands import Bench
from envmgr.app.experiments.places import rehomed
from envmgr.diagnose.steering import OF_PYTHON
from envmgr.model.finding import World


def probe_environment(bench: Bench, world: World, venv: Path, home: Path) -> dict[str, str]:
    """Return the variables that the probe gets."""
    environment = rehomed(bench.environment, bench.home, home)
    environment |= _filled({**bench.given, **world.variables.set}, bench, venv, home)
    return {name: value for name, value in environment.items() if name not in world.variables.unset}


def build_environment(bench: Bench, world: World, home: Path, venv: Path) -> dict[str, str]:
    """Return the variables that installers get."""
    caller = bench.environment
    environment = {
        name: value for name, value in rehomed(caller, bench.home, home).items() if not name.startswith(OF_PYTHON)
    }
    environment |= caches(caller, bench.home, bench.system)
    if world.build_constraints:
        environment["PIP_BUILD_CONSTRAINT"] = str(venv.parent / "build-constraints.txt")
    changes = {name: value for name, value in world.variables.set.items() if not name.startswith(OF_PYTHON)}
    environment |= _filled(changes, bench, venv, home)
    return {name: value for name, value in environment.items() if name not in world.variables.unset}


_STEERS_NOTHING = re.compile(
    r"PIP_(?:(?:EXTRA_)?INDEX_URL|FIND_LINKS|CERT|CLIENT_CERT|TRUSTED_HOST|PROXY|CACHE_DIR|CONFIG_FILE|TIMEOUT"
    r"|DEFAULT_TIMEOUT|RETRIES|NO_INPUT|QUIET|VERBOSE|NO_COLOR|PROGRESS_BAR|DISABLE_PIP_VERSION_CHECK"
    r"|ROOT_USER_ACTION|REQUIRE_VIRTUALENV)"
)


def steered_installers(environment: Mapping[str, str], names: Iterable[str]) -> bool:
    """Tell whether variables, or a settings file among `home/…` names, may decide what pip installs.

    >>> steered_installers({"PIP_NO_DEPS": "1"}, ()), steered_installers({"PIP_INDEX_URL": "x"}, ["home/.bashrc"])
    (True, False)
    """
    variables = any(name.startswith("PIP_") and not _STEERS_NOTHING.fullmatch(name) for name in environment)
    return variables or any(name.endswith(("/pip.conf", "/pip.ini")) for name in names)


def caches(environment: Mapping[str, str], home: Path, system: str) -> dict[str, str]:
    """Return where uv and pip keep what they fetched: an experiment with its own HOME need not fetch again."""
    if system == "windows":
        own = Path(environment.get("LOCALAPPDATA") or home / "AppData" / "Local") / "uv" / "cache"
    else:
        own = Path(environment.get("XDG_CACHE_HOME") or home / ".cache") / "uv"
    uv_cache = Path(environment.get("UV_CACHE_DIR") or own)
    pip_cache = environment.get("PIP_CACHE_DIR") or str(uv_cache.parent / "pip")
    return {"UV_CACHE_DIR": str(uv_cache), "PIP_CACHE_DIR": pip_cache}


def _filled(values: Mapping[str, str], bench: Bench, venv: Path, home: Path) -> dict[str, str]:
    """Return variables with the folders in place of their names, as cells get them."""
    told = in_project(values, bench.project)
    return {name: value.replace("{home}", str(home)).replace("{venv}", str(venv)) for name, value in told.items()}


def in_project(values: Mapping[str, str], project: Path | None) -> dict[str, str]:
    """Return variables with the folder of the project in place of `{project}`, where there is a project."""
    return {name: value.replace("{project}", str(project)) if project else value for name, value in values.items()}
