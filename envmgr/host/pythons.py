"""Get a Python that is not there, through uv."""

from __future__ import annotations

import re
from pathlib import Path

from envmgr.errors import HostError
from envmgr.host.interpreters import discover
from envmgr.host.surroundings import Means, Surroundings
from envmgr.model.host import Interpreter
from envmgr.ports import Completed, ProcessRequest


def install_python(means: Means, around: Surroundings, request: str, cache_folder: Path) -> Interpreter:
    """Fetch a Python through uv, with uv's progress on the caller's terminal, and return it as discovered anew.

    `request` is as uv has it: `3.8`, `3.8.20`, `cpython-3.8-macos-x86_64`. No link is put on PATH. Raises HostError
    when downloads are forbidden, when uv knows no such Python, and when it fails.
    """
    if not around.downloads:
        why = "fetching Pythons is forbidden (--no-python-downloads)"
        raise HostError(f"Python {request} was not installed", why, _by_hand(around, request))
    known = _ask_uv(means, around, "list", request, "--only-downloads", "--offline", "--all-arches")
    if not known.good or not known.stdout.strip():
        said = _last_line(known.stderr)
        why = f"uv knows no download for {request}{': ' if said else ''}{said}"
        raise HostError(f"uv cannot fetch Python {request}", why, _by_hand(around, request))
    argv = (around.uv, "python", "install", "--no-bin", request)
    installed = means.process.run(ProcessRequest(argv, env=around.environment, shared_terminal=True))
    if not installed.good:
        why = _last_line(installed.stderr) or f"uv ended with exit code {installed.exit_code}; its words stand above"
        raise HostError(f"Python {request} was not installed", why, _by_hand(around, request))
    return _installed(means, around, request, cache_folder)


def _installed(means: Means, around: Surroundings, request: str, cache_folder: Path) -> Interpreter:
    found = _ask_uv(means, around, "find", request, "--managed-python", "--no-project", "--offline")
    identity = means.files.identity(Path(found.stdout.strip())) if found.good else ""
    discovery = discover(means, around, cache_folder)
    for interpreter in discovery.interpreters:
        if identity and interpreter.identity == identity:
            return interpreter
    reasons = [one.reason for one in discovery.rejected if one.source == "uv"]
    why = reasons[-1] if reasons else _last_line(found.stderr) or "it is not among the Pythons found afterwards"
    raise HostError(f"Python {request} was fetched and does not work", why, "look at envmgr python list")


def _ask_uv(means: Means, around: Surroundings, *arguments: str) -> Completed:
    argv = (around.uv, "python", *arguments)
    return means.process.run(ProcessRequest(argv, env=around.environment, timeout=60.0, kept=False))


def _by_hand(around: Surroundings, request: str) -> str:
    version = re.search(r"\d+(\.\d+)+", request)
    if around.system == "windows" or version is None:
        return "install it with the installer of its release page, then look at envmgr python list"
    prefix = "arch -x86_64 " if request.endswith("macos-x86_64") else ""
    return f"get it another way: {prefix}pyenv install {version[0]}"


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or [""])[-1]
