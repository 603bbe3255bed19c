"""The user's own shell in an env: which it is, how it shows where one is, and what of the caller's session it keeps."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import PurePath
from typing import NamedTuple

from envmgr.env.passing import passed_on

_AT_HAND = (
    "SHELL",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "XDG_RUNTIME_DIR",
    "SSH_AUTH_SOCK",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "TERM_PROGRAM",
    "TMUX",
)
"""What a terminal, a window or an agent is found by: nothing that is measured depends on it."""
_OF_JUPYTER = ("JPY_PARENT_PID", "JPY_SESSION_NAME")
"""What Jupyter tells its kernels: they end when it does."""
_SESSION = ("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "NETRC", "PATH", "VIRTUAL_ENV", "VIRTUAL_ENV_PROMPT")
_OF_TOOLS = ("XDG_", "UV_", "PIP_", "ENVMGR_", "PYENV", "ASDF_", "MISE_", "CONDA", "MAMBA_", "VIRTUALENV_")
OUTER = "ENVMGR_OUTER"
"""The variable by which an envmgr that is started in an env finds the session in which that env was entered."""
_FISH = (
    "functions -q fish_prompt; and functions -c fish_prompt __outer_prompt; "
    "function fish_prompt; printf '(%s) ' $VIRTUAL_ENV_PROMPT; functions -q __outer_prompt; and __outer_prompt; end"
)
_ZSH = 'PS1="($VIRTUAL_ENV_PROMPT) $PS1"\n'


class Shell(NamedTuple):
    """A command that starts a shell, the variables that it wants, and files of its home with their text."""

    argv: tuple[str, ...]
    variables: Mapping[str, str]
    files: Mapping[str, str]


def shell_of(environment: Mapping[str, str], system: str, label: str) -> Shell:
    """Return the user's own shell as it shows where one is.

    bash sets its prompt itself first, and is told before it shows it; zsh asks who has no file of settings for some.
    """
    if system == "win32":
        return Shell((environment.get("COMSPEC", "cmd.exe"),), {"PROMPT": f"({label}) $P$G"}, {})
    program = environment.get("SHELL") or "/bin/sh"
    name = PurePath(program).name
    if name == "fish":
        return Shell((program, "-C", _FISH), {}, {})
    if name == "zsh":
        return Shell((program,), {}, {".zshrc": _ZSH})
    prompt = {"PS1": f"({label}) $ ", "PROMPT_COMMAND": f'PS1="({label}) $PS1"; unset PROMPT_COMMAND'}
    return Shell((program,), prompt, {})


def at_hand(environment: Mapping[str, str], system: str) -> dict[str, str]:
    """Return what a command by hand keeps of the caller's session beside what a cell gets.

    On Windows, what Jupyter tells is a handle that only its own child has.
    """
    names = _AT_HAND if system == "win32" else (*_AT_HAND, *_OF_JUPYTER)
    return {name: environment[name] for name in names if name in environment}


def path_of(own: str, environment: Mapping[str, str], system: str) -> str:
    """Return the env's programs first, then the caller's, less those of the virtual environment that the caller is in.

    >>> path_of("/env/bin", {"PATH": "/venv/bin:/usr/bin", "VIRTUAL_ENV": "/venv"}, "linux")
    '/env/bin:/usr/bin'
    """
    separator, programs = (";", "\\Scripts") if system == "win32" else (":", "/bin")
    active = environment.get("VIRTUAL_ENV", "")
    left = active.rstrip("/\\") + programs if active else None
    callers = environment.get("PATH", "").split(separator)
    return separator.join([own, *(folder for folder in callers if folder and folder.rstrip("/\\") != left)])


def way_back(caller: Mapping[str, str], inner: Mapping[str, str]) -> dict[str, str]:
    """Return the variable that tells, of each one that decides what envmgr finds, what it is inside and was outside.

    An envmgr that is started inside takes those that are still as they were made for those outside (`__main__`), so
    that it has the user's caches, indexes and Pythons, not those of a cell.
    """
    names, passed = sorted({*caller, *inner}), {*passed_on(caller), *passed_on(inner)}
    deciding = [name for name in names if name in _SESSION or name in passed or name.startswith(_OF_TOOLS)]
    return {OUTER: json.dumps({name: [inner.get(name), caller.get(name)] for name in deciding if name != OUTER})}
