"""Reads from the disk what stands in a virtual environment or a conda prefix; writes nothing there."""

from __future__ import annotations

import json
from dataclasses import dataclass
from email.parser import HeaderParser
from pathlib import Path
from typing import Any

from packaging.tags import platform_tags
from packaging.utils import canonicalize_name

from envmgr.app.contents import read_contents
from envmgr.app.installed import python_in, site_packages
from envmgr.diagnose.standing import Installed, Standing
from envmgr.errors import HostError
from envmgr.ports import Files, Process, ProcessRequest

_MARKERS = """\
import json, os, platform, sys
print(json.dumps({
 "implementation_name": sys.implementation.name, "os_name": os.name, "platform_machine": platform.machine(),
 "platform_release": platform.release(), "platform_system": platform.system(),
 "platform_version": platform.version(), "python_full_version": platform.python_version(),
 "platform_python_implementation": platform.python_implementation(),
 "python_version": ".".join(platform.python_version_tuple()[:2]), "sys_platform": sys.platform}))
"""
_NANOSECONDS = 1e-9


@dataclass(frozen=True, slots=True)
class Own:
    """An environment of the user's: its folder, its interpreter with the full version, and what is in it."""

    prefix: Path
    python: Path
    version: str
    standing: Standing


def is_environment(files: Files, path: Path) -> bool:
    """Tell whether a path is the folder of a virtual environment or a conda prefix."""
    return files.is_folder(path) and any(files.exists(path / name) for name in ("pyvenv.cfg", "conda-meta"))


def read_own(files: Files, process: Process, prefix: Path) -> Own:
    """Return what stands in a folder. Raises HostError where its interpreter cannot tell its version."""
    python = python_in(files, prefix)
    if python is None:
        raise HostError(
            f"{prefix} has no Python", "wanted an interpreter in it; found none", "make the environment again"
        )
    request = ProcessRequest((str(python), "-I", "-S", "-B", "-c", _MARKERS), prefix.parent, {}, timeout=60)
    completed = process.run(request)
    if not completed.good:
        said = (completed.stderr or completed.stdout).strip().splitlines()[-1:] or ["it does not start"]
        raise HostError(
            f"{python} does not run", f"wanted an interpreter; found: {said[0]}", "make the environment again"
        )
    markers = json.loads(completed.stdout)
    site = site_packages(files, prefix)
    moments = _moments(files, site)
    conda = _conda_wishes(files, prefix)
    installed = [_installed(files, folder, moments, conda) for folder in site if folder.name.endswith("-info")]
    contents = read_contents(files, site)
    standing = Standing(tuple(one for one in installed if one), contents, markers, tuple(platform_tags()))
    return Own(prefix, python, markers["python_full_version"], standing)


def _moments(files: Files, site: tuple[Path, ...]) -> dict[Path, float]:
    """Return when each distribution was installed: what installers write last, never links into a cache."""
    found: dict[Path, float] = {}
    for folder in site:
        if not folder.name.endswith("-info") or not files.is_folder(folder):
            continue
        facts = files.snapshot(folder)
        written = [facts[name] for name in ("RECORD", "INSTALLER", "REQUESTED") if name in facts]
        times = [float(text.split()[2]) * _NANOSECONDS for text in written or facts.values() if text != "folder"]
        found[folder] = max(times, default=0.0)
    return found


def _conda_wishes(files: Files, prefix: Path) -> dict[str, tuple[bool, float]]:
    """Return for each distribution that conda installed whether it was asked for, and when it came."""
    found: dict[str, tuple[bool, float]] = {}
    facts = files.snapshot(prefix / "conda-meta")
    for path in files.list(prefix / "conda-meta"):
        if path.suffix != ".json":
            continue
        told = _json(files.read(path))
        moment = float(facts[path.name].split()[2]) * _NANOSECONDS if path.name in facts else 0.0
        found[canonicalize_name(str(told.get("name", "")))] = (bool(told.get("requested_spec")), moment)
    return found


def _installed(
    files: Files, folder: Path, moments: dict[Path, float], conda: dict[str, tuple[bool, float]]
) -> Installed | None:
    text = files.read(folder / "METADATA") or files.read(folder / "PKG-INFO") or files.read(folder)
    headers = HeaderParser().parsestr(text or "")
    if not headers.get("Name"):
        return None
    name = canonicalize_name(str(headers["Name"]))
    wheel = HeaderParser().parsestr(files.read(folder / "WHEEL") or "")
    installer = (files.read(folder / "INSTALLER") or "").strip()
    requested, moment = files.exists(folder / "REQUESTED"), moments.get(folder, 0.0)
    if installer == "conda" and name in conda:
        requested, moment = conda[name]
    return Installed(
        name=name,
        version=str(headers.get("Version") or ""),
        installer=installer,
        requested=requested,
        moment=moment,
        tags=tuple(str(tag).strip() for tag in wheel.get_all("Tag") or ()),
        url=_address(files.read(folder / "direct_url.json")),
    )


def _json(text: str | None) -> dict[str, Any]:
    """Return what a record holds as JSON; nothing if it is something else."""
    try:
        told = json.loads(text or "{}")
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


def _address(text: str | None) -> str:
    """Return the address that a distribution was installed from, as a requirement names it; empty if by name."""
    told = _json(text)
    url, version = str(told.get("url") or ""), told.get("vcs_info")
    if isinstance(version, dict) and version:
        return f"{version.get('vcs', 'git')}+{url}@{version.get('commit_id', '')}"
    return url
