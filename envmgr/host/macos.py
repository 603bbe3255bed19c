"""A Mac: sw_vers, sysctl and system_profiler, and what follows from the version of macOS."""

from __future__ import annotations

import json
from pathlib import Path

from envmgr.host.devices import MPS_MACOS, at_least
from envmgr.host.machine import Equipment, Machine, vendor_of
from envmgr.host.match import ROSETTA
from envmgr.host.surroundings import Means
from envmgr.model.host import Accelerator, Driver, Lack

_ROSETTA_RUNTIME = Path("/Library/Apple/usr/libexec/oah/libRosettaRuntime")
_OPENCL = Path("/System/Library/Frameworks/OpenCL.framework")
_FEATURES = {
    "avx1.0": "avx",
    "avx2": "avx2",
    "avx512f": "avx512f",
    "fma": "fma",
    "f16c": "f16c",
    "sse4.1": "sse4_1",
    "sse4.2": "sse4_2",
}
_ARM_FEATURES = {"hw.optional.neon": "asimd", "hw.optional.arm.FEAT_DotProd": "asimddp"}
_ARM_FEATURES |= {"hw.optional.arm.FEAT_BF16": "bf16", "hw.optional.arm.FEAT_I8MM": "i8mm"}


def macos_machine(means: Means) -> Machine:
    """Return system and processor of this Mac; an Apple processor is one also for whoever asks through Rosetta."""
    values = parse_sysctl(means.output("sysctl", "hw", "machdep.cpu"))
    native = "arm64" if values.get("hw.optional.arm64") == "1" else means.output("uname", "-m").strip()
    return Machine(
        os_version=means.output("sw_vers", "-productVersion").strip(),
        machine=native,
        processor=values.get("machdep.cpu.brand_string", ""),
        cores=int(values.get("hw.ncpu", "0")),
        memory=int(values.get("hw.memsize", "0")),
        cpu_features=mac_features(values),
    )


def macos_equipment(means: Means, machine: Machine) -> Equipment:
    """Return the GPUs of this Mac, by which APIs macOS drives them, and whether Rosetta is lacking."""
    cards = parse_displays(means.output("system_profiler", "SPDisplaysDataType", "-json", timeout=60.0))
    opencl = means.files.is_folder(_OPENCL)
    has_mps = machine.machine == "arm64" and at_least(machine.os_version, MPS_MACOS)
    cards = tuple(_with_apis(card, has_mps=has_mps, has_opencl=opencl) for card in cards)
    drivers = []
    if any("metal" in card.apis for card in cards):
        drivers.append(Driver(api="metal", name="Metal", version=f"macOS {machine.os_version}"))
    if opencl:
        drivers.append(Driver(api="opencl", name="OpenCL.framework", path=str(_OPENCL)))
    lacks: tuple[Lack, ...] = ()
    if machine.machine == "arm64":
        if means.files.exists(_ROSETTA_RUNTIME):
            drivers.append(Driver(api="rosetta", name=ROSETTA, path=str(_ROSETTA_RUNTIME)))
        else:
            lacks = (rosetta_lack(),)
    return Equipment(cards, tuple(drivers), lacks)


def rosetta_lack() -> Lack:
    """Return Rosetta as lacking, with the command that installs it."""
    why = "x86-64 Pythons (PlaidML on an Apple processor) run through it"
    return Lack(need="os", name=ROSETTA, why=why, how={"macos": "softwareupdate --install-rosetta"})


def parse_sysctl(text: str) -> dict[str, str]:
    """Return the values that `sysctl` prints as `name: value` lines."""
    pairs = (line.partition(": ") for line in text.splitlines())
    return {name.strip(): value.strip() for name, separator, value in pairs if separator}


def mac_features(values: dict[str, str]) -> tuple[str, ...]:
    """Return the processor's features in the words that Linux uses."""
    words = f"{values.get('machdep.cpu.features', '')} {values.get('machdep.cpu.leaf7_features', '')}".lower().split()
    intel = {_FEATURES[word] for word in words if word in _FEATURES}
    arm = {feature for name, feature in _ARM_FEATURES.items() if values.get(name) == "1"}
    return tuple(sorted(intel | arm))


def parse_displays(text: str) -> tuple[Accelerator, ...]:
    """Return the GPUs that `system_profiler SPDisplaysDataType -json` lists; `metal` for those that macOS drives so."""
    try:
        entries = json.loads(text).get("SPDisplaysDataType", [])
    except (ValueError, AttributeError):
        return ()
    return tuple(_card(entry) for entry in entries if entry.get("sppci_model") or entry.get("_name"))


def _card(entry: dict[str, object]) -> Accelerator:
    name = str(entry.get("sppci_model") or entry.get("_name"))
    vendor = vendor_of(str(entry.get("spdisplays_vendor", ""))) or vendor_of(name)
    metal = any(
        ("metal" in key.lower() or "mtl" in key.lower()) and "not" not in str(value).lower()
        for key, value in entry.items()
    )
    memory = entry.get("spdisplays_vram") or entry.get("_spdisplays_vram") or entry.get("spdisplays_vram_shared")
    cores = entry.get("sppci_cores")
    detail = f"{cores} cores" if cores else str(memory or "")
    return Accelerator(name=name, vendor=vendor, apis=("metal",) if metal else (), detail=detail)


def _with_apis(card: Accelerator, *, has_mps: bool, has_opencl: bool) -> Accelerator:
    mps = ("mps",) if has_mps and card.vendor == "Apple" and "metal" in card.apis else ()
    opencl = ("opencl",) if has_opencl else ()
    return card.model_copy(update={"apis": card.apis + mps + opencl})
