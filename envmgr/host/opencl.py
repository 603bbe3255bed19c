"""OpenCL on Linux: driver files (ICD), the loader, its unversioned name that PlaidML opens, and what clinfo sees."""

from __future__ import annotations

import re
from pathlib import Path

from envmgr.host.devices import LINK, LOADER
from envmgr.host.machine import Equipment, vendor_of
from envmgr.host.surroundings import Means, Surroundings
from envmgr.model.host import Accelerator, Driver, Lack

_VENDOR_FOLDER = Path("/etc/OpenCL/vendors")
_LIBRARY_FOLDERS = (
    "/usr/local/lib",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
)
_LDCONFIG_LINE = re.compile(r"^\s+(\S+) \(([^)]*)\) => (\S+)$", re.MULTILINE)
_CLINFO_LINE = re.compile(r"^\[(?P<device>\S+/\d+)\]\s+CL_DEVICE_(?P<key>NAME|VENDOR|TYPE)\s+(?P<value>\S.*?)\s*$")


def linux_opencl(means: Means, around: Surroundings, equipment: Equipment) -> Equipment:
    """Return the equipment with OpenCL's part in it: drivers, lacks, and each card's `opencl`."""
    libraries = parse_ldconfig(means.output("ldconfig", "-p") or means.output("/sbin/ldconfig", "-p"))
    folders = (*around.folders("LD_LIBRARY_PATH"), *(Path(folder) for folder in _LIBRARY_FOLDERS))

    def find(name: str) -> str:
        own = (folder / name for folder in folders[: len(folders) - len(_LIBRARY_FOLDERS)])
        usual = (folder / name for folder in folders[len(folders) - len(_LIBRARY_FOLDERS) :])
        found = next((str(path) for path in own if means.files.identity(path)), "") or libraries.get(name, "")
        return found or next((str(path) for path in usual if means.files.identity(path)), "")

    icds = []
    for path in _icd_files(means, around):
        library = (means.read(path) or "").strip()
        present = bool(library and (means.files.identity(Path(library)) if "/" in library else find(library)))
        icds.append(Driver(api="opencl", name=path.name, path=str(path), usable=present, detail=library))
    shared = [
        Driver(api="opencl", name=name, path=find(name), detail="loader") for name in (LOADER, LINK) if find(name)
    ]
    drivers = (*icds, *shared)
    seen = parse_clinfo(_ask_clinfo(means, around))
    cards = tuple(_with_opencl(card, seen, drivers) for card in equipment.accelerators)
    processors = tuple(device for device in seen if device.kind == "cpu")
    return Equipment((*cards, *processors), equipment.drivers + drivers, equipment.lacks + opencl_lacks(drivers))


def _ask_clinfo(means: Means, around: Surroundings) -> str:
    """Return what clinfo says; pocl's cache of kernels, which it would make in the user's home, is thrown away."""
    with means.files.scratch("clinfo") as folder:
        variables = {**around.environment, "POCL_CACHE_DIR": str(folder)}
        return means.output("clinfo", "--raw", variables=variables)


def opencl_lacks(drivers: tuple[Driver, ...]) -> tuple[Lack, ...]:
    """Return what keeps OpenCL drivers that are there from being used."""
    icds = [driver for driver in drivers if driver.name.endswith(".icd")]
    names = {driver.name for driver in drivers}
    lacks = [
        Lack(need="library", name=icd.detail or icd.name, why=f"{icd.path} names it, and it is not there")
        for icd in icds
        if not icd.usable
    ]
    if icds and LOADER not in names:
        how = {"debian": "apt-get install ocl-icd-libopencl1"}
        lacks.append(Lack(need="library", name=LOADER, why="without the loader no OpenCL driver is found", how=how))
    if icds and LOADER in names and LINK not in names:
        how = {"debian": "apt-get install ocl-icd-opencl-dev"}
        why = f"PlaidML opens this name; with {LOADER} alone it leaves OpenCL out without a message"
        lacks.append(Lack(need="library", name=LINK, why=why, how=how))
    return tuple(lacks)


def parse_ldconfig(text: str) -> dict[str, str]:
    """Return library name to path from `ldconfig -p`; of several, the 64-bit one."""
    found: dict[str, str] = {}
    for name, flags, path in _LDCONFIG_LINE.findall(text):
        if "64" in flags:
            found.setdefault(name, path)
    return found


def parse_clinfo(text: str) -> tuple[Accelerator, ...]:
    """Return the devices that `clinfo --raw` lists."""
    devices: dict[str, dict[str, str]] = {}
    for line in text.splitlines():
        found = _CLINFO_LINE.match(line)
        if found:
            devices.setdefault(found["device"], {})[found["key"]] = found["value"]
    return tuple(
        Accelerator(
            name=values.get("NAME", ""),
            vendor=vendor_of(values.get("VENDOR", "")) or values.get("VENDOR", ""),
            kind="cpu" if "CPU" in values.get("TYPE", "") else "gpu",
            apis=("opencl",),
            detail=f"OpenCL {device}",
        )
        for device, values in devices.items()
    )


def _icd_files(means: Means, around: Surroundings) -> tuple[Path, ...]:
    named = around.environment.get("OCL_ICD_VENDORS", "")
    place = Path(named) if named else _VENDOR_FOLDER
    if place.suffix == ".icd":
        return (place,)
    return tuple(path for path in means.files.list(place) if path.suffix == ".icd")


def _with_opencl(card: Accelerator, seen: tuple[Accelerator, ...], drivers: tuple[Driver, ...]) -> Accelerator:
    """Add `opencl` to a card that clinfo lists, or whose vendor's driver and the loader are there."""
    makers = {"NVIDIA": ("nvidia",), "AMD": ("amd", "mesa", "rusticl"), "Intel": ("intel",)}
    loader = any(driver.name == LOADER for driver in drivers)
    driven = loader and any(
        driver.usable and driver.name.endswith(".icd") and maker in f"{driver.name} {driver.detail}".lower()
        for driver in drivers
        for maker in makers.get(card.vendor, ())
    )
    listed = any(device.kind == "gpu" and device.vendor == card.vendor for device in seen)
    reached = listed if seen else driven
    return card.model_copy(update={"apis": (*card.apis, "opencl")}) if reached else card
