"""What a build is given: its content, places, switches, and the tools it works with."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from pydantic import Field

from envmgr.env.inspect import Inspection
from envmgr.env.installer import Ports
from envmgr.env.recipe import Recipe
from envmgr.model.host import InstallerSettings, Interpreter
from envmgr.model.manifest import Step
from envmgr.model.noun import Noun
from envmgr.model.sharing import Sharing


class RequirementGroup(Noun):
    """Pinned requirements that come from one index.

    `text` is a requirements file in which every line has its hashes; `url` is an explicit index that serves this group
    alone, None for the host's own indexes; `name` is how errors call the index.
    """

    text: str
    name: str = "the default index"
    url: str | None = None


class SourceBuilds(Noun):
    """Which distributions are built from source, and with what.

    `constraints` pins the build requirements with hashes, in the format of a requirements file; `requires` adds build
    requirements that a distribution needs but does not declare.
    """

    names: tuple[str, ...] = ()
    constraints: str = ""
    requires: dict[str, tuple[str, ...]] = Field(default_factory=dict)


class LockedContent(Noun):
    """Everything that is installed from a lock; `digest` identifies it."""

    digest: str
    groups: tuple[RequirementGroup, ...]
    sources: SourceBuilds = SourceBuilds()


class HistoryContent(Noun):
    """An ordered history of installation commands; `exclude_newer` (a date as text) holds for the steps of uv."""

    digest: str
    steps: tuple[Step, ...]
    exclude_newer: str | None = None


class Places(Noun):
    """Folders of envmgr: one env a key below `envs`; the caches of uv, pip and virtualenv are its own."""

    envs: Path
    uv_cache: Path
    pip_cache: Path
    app_data: Path


class Switches(Noun):
    """How the installer works.

    `uv` is its executable, `caller` the environment variables envmgr was started with, `expected_bytes` what is going
    to be downloaded where that is known. `vendored` are folders of kept artefacts: what they have all of is taken from
    them without any index. `sharing` tells how the files of an env are to share their bytes with uv's cache,
    `sharing_why` why not better. `refresh` are distributions that are brought anew, whatever the cache holds.
    """

    uv: str
    settings: InstallerSettings = InstallerSettings()
    caller: dict[str, str] = Field(default_factory=dict)
    offline: bool = False
    sharing: Sharing = "copy"
    sharing_why: str = ""
    refresh: tuple[str, ...] = ()
    expected_bytes: int = 0
    vendored: tuple[str, ...] = ()

    @property
    def link_mode(self) -> str:
        """How uv is told to bring files into an env; a copy of its is a clone where the file system has them."""
        return "hardlink" if self.sharing == "hardlink" else "copy"


class BuildRequest(Noun):
    """One env to build: who asked for it, its key, its interpreter and its content."""

    manifest: str
    variant: str
    key: str
    interpreter: Interpreter
    content: LockedContent | HistoryContent
    places: Places
    switches: Switches

    @property
    def folder(self) -> Path:
        """The env's final place."""
        return self.places.envs / self.key


@dataclass(frozen=True, slots=True)
class Tools(Ports):
    """The ports that a build works through.

    Of a finished build, `inspected` keeps by key what was found in its env, and `recipes` how it can be made again.
    """

    inspected: dict[str, Inspection] = field(default_factory=dict)
    recipes: dict[str, Recipe] = field(default_factory=dict)


def python_of(folder: Path, system: str) -> Path:
    """Return the interpreter of the env in a folder.

    >>> python_of(Path("envs/a"), "linux").as_posix()
    'envs/a/bin/python'
    """
    return folder / "Scripts" / "python.exe" if system == "windows" else folder / "bin" / "python"


def words_of(path: str, system: str) -> tuple[str, ...]:
    """Return the folders that a variable such as PATH or PYTHONPATH names on a system.

    >>> words_of("C:/one;D:/two", "windows"), words_of("/one:/two", "linux")
    (('C:/one', 'D:/two'), ('/one', '/two'))
    """
    return tuple(path.split(";" if system == "windows" else ":"))
