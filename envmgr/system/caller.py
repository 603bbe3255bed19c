from __future__ import annotations

import os
import platform
import shutil
import socket
import sys
from dataclasses import dataclass
from pathlib import Path

SET_ASIDE = "ENVMGR_SET_ASIDE_"
NO_PLUGINS = "PYDANTIC_DISABLE_PLUGINS"
"""Set at the start, for envmgr alone."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who called envmgr, and where: variables (as they were given), home, current folder, system, host name."""

    environment: dict[str, str]
    home: Path
    folder: Path
    system: str
    machine: str
    host: str


def caller() -> Caller:
    """Return the caller's side of this process, with the variables that were set aside at the start put back."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(SET_ASIDE)}
    environment |= {
        name.removeprefix(SET_ASIDE): value for name, value in os.environ.items() if name.startswith(SET_ASIDE)
    }
    if environment.get(NO_PLUGINS) == "__all__":
        del environment[NO_PLUGINS]
    return Caller(
        environment=environment,
        home=Path.home(),
        folder=Path.cwd(),
        system=sys.platform,
        machine=platform.machine(),
        host=socket.gethostname(),
    )


def terminal_width(default: int = 100) -> int:
    """Return the terminal's width in columns, or `default` where there is no terminal."""
    return shutil.get_terminal_size((default, 24)).columns
