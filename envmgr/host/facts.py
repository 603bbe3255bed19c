"""Gather what there is to know about this machine."""

from __future__ import annotations

import json
import re
from pathlib import Path

from packaging.version import Version

from envmgr.errors import HostError
from envmgr.host.identity import identity_of
from envmgr.host.interpreters import discover
from envmgr.host.linux import linux_equipment, linux_machine
from envmgr.host.machine import Equipment, Machine
from envmgr.host.macos import macos_equipment, macos_machine
from envmgr.host.match import host_platforms
from envmgr.host.settings import read_settings, redact_settings
from envmgr.host.surroundings import Means, Surroundings, find_program
from envmgr.host.windows import ask_windows, parse_machine, windows_equipment
from envmgr.model.host import HostFacts, InstallerSettings, Lack
from envmgr.model.platform import Platform, platform_of

_TOOLS = ("uv", "pyenv", "asdf", "mise", "conda", "mamba", "brew", "apt-get", "git", "cc", "cmake", "nvcc", "clinfo")
_RELEASE = re.compile(r"^\d+\.\d+\.\d+$")


def gather(means: Means, around: Surroundings, cache_folder: Path, *, brief: bool = False) -> HostFacts:
    """Return all facts about this machine; what cannot be learnt is left empty, nothing stops the gathering.

    Installer settings are in it without credentials; `read_settings` gives the true ones. Brief facts are what an
    environment is chosen by: the machine and its Pythons, without accelerators, drivers and tools.
    """
    machine, equipment = _machine_and_equipment(means, around, brief=brief)
    settings, complaints = _settings(means, around)
    discovery = discover(means, around, cache_folder)
    facts = HostFacts(
        name=_name(means, around),
        identity=identity_of(means, around, machine),
        system=around.system,
        os_version=machine.os_version,
        machine=machine.machine,
        libc=machine.libc,
        processor=machine.processor,
        cores=machine.cores,
        memory=machine.memory,
        cpu_features=machine.cpu_features,
        accelerators=equipment.accelerators,
        drivers=equipment.drivers,
        interpreters=discovery.interpreters,
        rejected_interpreters=discovery.rejected,
        settings=settings,
        lacks=equipment.lacks + complaints,
        tools={} if brief else _tools(means, around),
    )
    return facts.model_copy(update={"fetchable_pythons": _fetchable(means, around, facts, cache_folder)})


def parse_downloads(text: str, facts: HostFacts) -> tuple[str, ...]:
    """Return what uv can fetch for a host from `uv python list --only-downloads --output-format json`.

    Plain minors for the host's own platform, `3.8-macos-x86_64` for one that it runs translated; newest first.
    """
    try:
        entries = json.loads(text)
    except ValueError:
        return ()
    native, translated = host_platforms(facts)
    libc = {"linux": "musl" if facts.libc.startswith("musl") else "gnu"}.get(facts.system, "none")
    found: set[tuple[Version, str]] = set()
    for entry in entries:
        platform = platform_of(str(entry.get("os")), str(entry.get("arch")))
        plain = entry.get("implementation") == "cpython" and entry.get("variant", "default") == "default"
        if plain and entry.get("libc") == libc and _RELEASE.match(str(entry.get("version"))):
            minor = str(entry["version"]).rpartition(".")[0]
            if platform in native:
                found.add((Version(minor), ""))
            elif isinstance(platform, Platform) and platform in translated:
                found.add((Version(minor), f"-{platform.value}"))
    ordered = sorted(found, key=lambda one: (one[1] != "", -one[0].minor))
    return tuple(f"{version}{suffix}" for version, suffix in ordered)


def _machine_and_equipment(means: Means, around: Surroundings, *, brief: bool) -> tuple[Machine, Equipment]:
    """Return machine and equipment; on macOS the latter tells of Rosetta, which decides what Pythons can serve."""
    if around.system == "macos":
        machine = macos_machine(means)
        return machine, macos_equipment(means, machine)
    if around.system == "windows":
        said = ask_windows(means)
        return parse_machine(said), windows_equipment(means, around, said)
    return linux_machine(means), Equipment() if brief else linux_equipment(means, around)


def _settings(means: Means, around: Surroundings) -> tuple[InstallerSettings, tuple[Lack, ...]]:
    """Return the settings without credentials; a file that its tool could not read is a lack, not an end."""
    try:
        return redact_settings(read_settings(means, around)), ()
    except HostError as error:
        return InstallerSettings(), (Lack(need="setting", name=error.what, why=error.why),)


def _name(means: Means, around: Surroundings) -> str:
    if around.system == "windows":
        return around.environment.get("COMPUTERNAME", "")
    return (means.read(Path("/proc/sys/kernel/hostname")) or means.output("uname", "-n")).strip()


def _tools(means: Means, around: Surroundings) -> dict[str, str]:
    found = ((name, find_program(means, around, name)) for name in _TOOLS)
    return {name: str(path) for name, path in found if path is not None}


def _fetchable(means: Means, around: Surroundings, facts: HostFacts, cache_folder: Path) -> tuple[str, ...]:
    """Return what this uv can fetch; it is asked once, as its list is part of it."""
    if not around.downloads:
        return ()
    known = cache_folder / "fetchable" / f"{means.files.identity(Path(around.uv)) or 'unknown'}.json"
    text = means.read(known) if known.stem != "unknown" else None
    if text is None:
        argv = ("python", "list", "--only-downloads", "--offline", "--all-arches", "--output-format", "json")
        text = means.output(around.uv, *argv)
        if text and known.stem != "unknown":
            means.keep(known, text)
    return parse_downloads(text, facts)
