"""This host as work is done on it: who called, where envmgr keeps its things, and the real sides of the ports.

What runs on a host of a fleet needs no more than this: no project, no results.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from envmgr.errors import HostError, ManifestError
from envmgr.model.sharing import Sharing
from envmgr.ports import Artefacts, Clock, Listener, Machine
from envmgr.system.caller import Caller, caller
from envmgr.system.clock import RealClock
from envmgr.system.files import RealFiles
from envmgr.system.process import RealProcess


@dataclass(frozen=True, slots=True)
class Folders:
    """Where envmgr keeps its own things on this host."""

    cache: Path
    state: Path
    configuration: Path

    @property
    def envs(self) -> Path:
        return self.cache / "envs"

    @property
    def scratch(self) -> Path:
        return self.cache / "scratch"

    @property
    def app_data(self) -> Path:
        return self.cache / "virtualenv"

    @property
    def interpreters(self) -> Path:
        return self.cache / "interpreters.json"


class HostPlace:
    """Everything that work on one host needs; `base` is the folder that manifests call `{project}`."""

    def __init__(self, listener: Listener | None = None) -> None:
        self.caller: Caller = caller()
        self.folders = folders_of(self.caller.environment)
        self.files = self._open_files()
        self.process = RealProcess(self.caller.environment)
        self.clock: Clock = RealClock()
        self.listener = listener or Listener()

    def _open_files(self) -> RealFiles:
        return RealFiles(self.folders.scratch)

    @property
    def base(self) -> Path:
        """The folder that manifests call `{project}`, and that what they name is relative to."""
        return self.caller.folder

    def folder_of(self, kind: str) -> Path:
        """Return where envmgr keeps what goes with environments: in its cache, or its state where that is read only."""
        folders = self.folders
        return (folders.cache if self.files.can_write(folders.cache) else folders.state) / kind

    @cached_property
    def artefacts(self) -> Artefacts:
        """The door to what indexes serve."""
        from envmgr.system.artefacts import RealArtefacts

        return RealArtefacts(self.caller.environment)

    @cached_property
    def machine(self) -> Machine:
        """What goes on in this machine."""
        from envmgr.system.machine import RealMachine

        return RealMachine()

    @cached_property
    def uv(self) -> Path:
        """The uv that resolves and installs: the one that was installed with envmgr."""
        from uv import find_uv_bin

        try:
            return Path(find_uv_bin())
        except FileNotFoundError:
            raise HostError(
                "uv is missing",
                "wanted the uv that is a dependency of envmgr; found no executable",
                "python -m pip install --force-reinstall uv",
            ) from None

    @cached_property
    def uv_cache(self) -> Path:
        """The cache of uv, as uv itself would choose it: what other projects have fetched is not fetched again."""
        named = self.caller.environment.get("UV_CACHE_DIR")
        if named:
            return Path(named)
        if self.caller.system == "win32":
            return Path(self.caller.environment.get("LOCALAPPDATA", self.caller.home)) / "uv" / "cache"
        return Path(self.caller.environment.get("XDG_CACHE_HOME") or self.caller.home / ".cache") / "uv"

    @cached_property
    def sharing(self) -> tuple[Sharing, str]:
        """How an env's files can share their bytes with uv's cache on this host, and why not better.

        The user's own UV_LINK_MODE of copy or clone rules hard links out; no value of it rules them in.
        """
        sharing, why = self.files.ways_to_share(self.uv_cache, self.folders.envs)
        asked = self.caller.environment.get("UV_LINK_MODE", "")
        if sharing == "hardlink" and asked in {"clone", "copy"}:
            return "copy", f"UV_LINK_MODE is {asked}"
        open_to_all = [path for path in (self.uv_cache, self.folders.envs) if path.resolve().is_relative_to("/dev")]
        if sharing == "hardlink" and open_to_all:
            return "copy", "the cache is below /dev, where every process may write"
        return sharing, why

    @property
    def host_file(self) -> Path:
        """Where this host's own configuration stands: `[plaidml]` and the like, with variables for their cells."""
        return self.folders.configuration / "host.toml"

    def host_variables(self, backend: str | None) -> dict[str, str]:
        """Return the variables that this host's configuration sets in cells of a backend; raises ManifestError."""
        text = self.files.read(self.host_file) if backend else None
        if not text:
            return {}
        try:
            table = tomllib.loads(text).get(backend or "", {})
        except tomllib.TOMLDecodeError as error:
            raise ManifestError(f"{self.host_file} is no TOML", str(error), "mend it, or remove it") from None
        wrong = [name for name, value in table.items() if not isinstance(value, str)]
        if wrong:
            raise ManifestError(
                f"{self.host_file}: {wrong[0]} under [{backend}] is no text",
                "wanted variables with text values",
                f'{wrong[0]} = "..."',
            )
        return dict(table)


def folders_of(environment: dict[str, str]) -> Folders:
    import platformdirs

    cache = environment.get("ENVMGR_CACHE_DIR") or platformdirs.user_cache_dir("envmgr", appauthor=False)
    state = environment.get("ENVMGR_STATE_DIR") or platformdirs.user_state_dir("envmgr", appauthor=False)
    configuration = environment.get("ENVMGR_CONFIG_DIR") or platformdirs.user_config_dir("envmgr", appauthor=False)
    return Folders(Path(cache).absolute(), Path(state).absolute(), Path(configuration).absolute())
