"""What the room is given: the caller's session as data, and the ports through which it asks anything else."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from envmgr.errors import HostError
from envmgr.model.host import System
from envmgr.ports import Executor, Files, Process, ProcessRequest


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The caller's session: system, environment variables, home folder, and the Python that was asked for, if any.

    `place` is the folder from which upwards tools look for a project's configuration; None: there is no project. `uv`
    is the command that starts uv. `downloads` is False where fetching Pythons is forbidden.
    """

    system: System
    environment: Mapping[str, str]
    home: Path
    python_request: str | None = None
    uv: str = "uv"
    downloads: bool = True
    place: Path | None = None

    def folder(self, variable: str, default: Path) -> Path:
        """Return the folder that an environment variable names, or the default where it is unset or empty."""
        value = self.environment.get(variable, "")
        return Path(value) if value else default

    def folders(self, variable: str) -> tuple[Path, ...]:
        """Return the folders of a search path such as PATH, each once, in order."""
        separator = ";" if self.system == "windows" else ":"
        parts = self.environment.get(variable, "").split(separator)
        return tuple(dict.fromkeys(Path(part.strip('"')) for part in parts if part))


@dataclass(frozen=True, slots=True)
class Means:
    """The ports through which facts are gathered."""

    process: Process
    files: Files
    executor: Executor

    def output(self, *argv: str, timeout: float = 20.0, variables: Mapping[str, str] | None = None) -> str:
        """Return what a program prints on stdout, or "" when it is absent, fails or takes too long."""
        completed = self.process.run(ProcessRequest(argv, timeout=timeout, env=variables, kept=False))
        return completed.stdout if completed.good else ""

    def keep(self, path: Path, text: str) -> None:
        """Keep what saves time on the next call; where nothing can be written, that takes the time again."""
        with suppress(OSError):
            self.files.write(path, text)

    def read(self, path: Path) -> str | None:
        """Return a file's text, or None when it is absent or may not be read."""
        try:
            return self.files.read(path)
        except OSError:
            return None


def system_of(name: str) -> System:
    """Return the system for `sys.platform`; raises HostError for one that envmgr does not know.

    >>> system_of("darwin")
    'macos'
    """
    if name == "darwin":
        return "macos"
    if name in {"win32", "windows"}:
        return "windows"
    if name.startswith("linux"):
        return "linux"
    raise HostError(f"envmgr does not run on {name}", "wanted Linux, macOS or Windows", "use one of these")


def find_program(means: Means, around: Surroundings, name: str) -> Path | None:
    """Return the first file of that name on PATH (with `.exe` on Windows), or None."""
    suffix = ".exe" if around.system == "windows" else ""
    for folder in around.folders("PATH"):
        path = folder / f"{name}{suffix}"
        if means.files.identity(path) and not means.files.is_folder(path):
            return path
    return None
