"""A Windows machine: one question to its management interface, nvidia-smi, and the OpenCL entries of the registry."""

from __future__ import annotations

import json
import re
from pathlib import PureWindowsPath
from typing import Any

from envmgr.host.machine import Equipment, Machine, vendor_of
from envmgr.host.nvidia import nvidia_equipment, nvidia_lacks
from envmgr.host.surroundings import Means, Surroundings
from envmgr.model.host import Accelerator, Driver

_ARCHITECTURES = {0: "x86", 5: "arm", 9: "x86_64", 12: "arm64"}
_QUESTION = (
    "@{os=(Get-CimInstance Win32_OperatingSystem|Select-Object Version,TotalVisibleMemorySize);"
    "processor=@(Get-CimInstance Win32_Processor|Select-Object Name,NumberOfLogicalProcessors,Architecture);"
    "video=@(Get-CimInstance Win32_VideoController|Select-Object Name,AdapterCompatibility,DriverVersion)}"
    "|ConvertTo-Json -Compress -Depth 3"
)
_OPENCL_KEY = r"HKLM\SOFTWARE\Khronos\OpenCL\Vendors"
_REGISTRY_LINE = re.compile(r"^\s+(?P<path>\S.*?)\s+REG_DWORD\s+0x(?P<value>[0-9a-f]+)\s*$", re.IGNORECASE)


def ask_windows(means: Means) -> str:
    """Return what the management interface says, as JSON text."""
    return means.output("powershell", "-NoProfile", "-NonInteractive", "-Command", _QUESTION, timeout=60.0)


def parse_machine(text: str) -> Machine:
    """Return system and processor from the management interface's JSON."""
    said = _read(text)
    system = said.get("os") or {}
    processors = said.get("processor") or []
    first = processors[0] if processors else {}
    return Machine(
        os_version=str(system.get("Version", "")),
        machine=_ARCHITECTURES.get(first.get("Architecture", -1), ""),
        processor=str(first.get("Name", "")).strip(),
        cores=sum(int(one.get("NumberOfLogicalProcessors", 0)) for one in processors),
        memory=int(system.get("TotalVisibleMemorySize", 0)) * 1024,
    )


def parse_video(text: str) -> tuple[Accelerator, ...]:
    """Return the cards of AMD, Intel and NVIDIA from the management interface's JSON."""
    cards = []
    for entry in _read(text).get("video") or []:
        vendor = vendor_of(str(entry.get("AdapterCompatibility") or entry.get("Name") or ""))
        if vendor:
            name, version = str(entry.get("Name") or vendor), str(entry.get("DriverVersion") or "")
            cards.append(Accelerator(name=name, vendor=vendor, detail=f"driver {version}" if version else ""))
    return tuple(cards)


def parse_registry(text: str) -> tuple[str, ...]:
    """Return the OpenCL driver libraries that `reg query` lists as active (value 0)."""
    matches = (_REGISTRY_LINE.match(line) for line in text.splitlines())
    return tuple(match["path"] for match in matches if match and int(match["value"], 16) == 0)


def windows_equipment(means: Means, around: Surroundings, said: str) -> Equipment:
    """Return cards, drivers and lacks of this Windows machine; `said` is the answer to `ask_windows`."""
    driven = nvidia_equipment(means)
    known = {card.vendor for card in driven.accelerators}
    equipment = driven + Equipment(tuple(card for card in parse_video(said) if card.vendor not in known))
    equipment += Equipment(lacks=nvidia_lacks(equipment))
    libraries = parse_registry(means.output("reg", "query", _OPENCL_KEY))
    icds = tuple(Driver(api="opencl", name=PureWindowsPath(path).name, path=path) for path in libraries)
    loader = around.folder("SYSTEMROOT", around.home) / "System32" / "OpenCL.dll"
    shared = (Driver(api="opencl", name="OpenCL.dll", path=str(loader), detail="loader"),)
    drivers = icds + (shared if means.files.identity(loader) else ())
    reached = bool(icds) and bool(means.files.identity(loader))
    cards = tuple(
        card.model_copy(update={"apis": (*card.apis, "opencl")}) if reached else card for card in equipment.accelerators
    )
    return Equipment(cards, equipment.drivers + drivers, equipment.lacks)


def _read(text: str) -> dict[str, Any]:
    try:
        said = json.loads(text)
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}
