"""A Linux machine: files under /proc, /sys and /etc, and the few programs that know more."""

from __future__ import annotations

import re
from pathlib import Path

from envmgr.host.machine import VENDORS, Equipment, Machine, vendor_of
from envmgr.host.nvidia import nvidia_equipment, nvidia_lacks
from envmgr.host.opencl import linux_opencl
from envmgr.host.surroundings import Means, Surroundings
from envmgr.model.host import Accelerator, Driver

_PCI = Path("/sys/bus/pci/devices")
_ROCM_VERSION = Path("/opt/rocm/.info/version")
_DISPLAY_CLASSES = ("0x03", "0x1200")
_DISPLAY_NAMES = ("vga compatible controller", "3d controller", "display controller", "processing accelerators")
_FIELD = re.compile(r'"([^"]*)"|(\S+)')
_FEATURES = re.compile(
    r"^(sse4_[12]|avx\w*|fma|f16c|amx\w*|sve\w*|asimd\w*|fphp|neon|bf16|i8mm|vfpv4)$",
)


def linux_machine(means: Means) -> Machine:
    """Return system and processor of this Linux machine."""
    processor, cores, features = parse_cpuinfo(means.read(Path("/proc/cpuinfo")) or "")
    return Machine(
        os_version=parse_os_release(
            means.read(Path("/etc/os-release")) or means.read(Path("/usr/lib/os-release")) or ""
        ),
        machine=means.output("uname", "-m").strip(),
        libc=_libc(means),
        processor=processor or parse_lscpu(means.output("lscpu")),
        cores=cores,
        memory=parse_meminfo(means.read(Path("/proc/meminfo")) or ""),
        cpu_features=features,
    )


def linux_equipment(means: Means, around: Surroundings) -> Equipment:
    """Return cards, drivers and lacks of this Linux machine."""
    driven = nvidia_equipment(means) + _rocm(means)
    known = {card.vendor for card in driven.accelerators}
    listed = parse_lspci(means.output("lspci", "-mm")) or _pci_cards(means)
    equipment = driven + Equipment(tuple(card for card in listed if card.vendor not in known))
    equipment += Equipment(lacks=nvidia_lacks(equipment))
    return linux_opencl(means, around, equipment)


def parse_os_release(text: str) -> str:
    r"""Return name and version of the distribution.

    >>> parse_os_release('NAME="Ubuntu"\nVERSION_ID="22.04"\n')
    'Ubuntu 22.04'
    """
    values = dict(line.split("=", 1) for line in text.splitlines() if "=" in line and not line.startswith("#"))
    parts = (values.get(key, "").strip().strip("\"'") for key in ("NAME", "VERSION_ID"))
    return " ".join(part for part in parts if part)


def parse_cpuinfo(text: str) -> tuple[str, int, tuple[str, ...]]:
    """Return the processor's name ("" on most ARM machines), logical cores, and the features that numbers hang on."""
    pairs = [(key.strip(), value.strip()) for key, _, value in (line.partition(":") for line in text.splitlines())]
    name = next((value for key, value in pairs if key == "model name"), "")
    flags = next((value for key, value in pairs if key in {"flags", "Features"}), "")
    cores = sum(1 for key, _ in pairs if key == "processor")
    return name, cores, tuple(sorted(flag for flag in flags.split() if _FEATURES.match(flag)))


def parse_lscpu(text: str) -> str:
    """Return the model name that lscpu knows."""
    found = re.search(r"^Model name:\s*(\S.*?)\s*$", text, re.MULTILINE)
    return found[1] if found and found[1] != "-" else ""


def parse_meminfo(text: str) -> int:
    """Return the memory in bytes."""
    found = re.search(r"^MemTotal:\s*(\d+) kB", text, re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def parse_libc(text: str) -> str:
    """Return `glibc 2.36` or `musl 1.2` from what getconf or ldd says."""
    if text.startswith("glibc "):
        return text.strip()
    musl = re.search(r"musl libc.*?Version (\d+\.\d+)", text, re.DOTALL)
    if musl:
        return f"musl {musl[1]}"
    glibc = re.search(r"^ldd \(.*\) (\d+\.\d+)", text)
    return f"glibc {glibc[1]}" if glibc else ""


def parse_lspci(text: str) -> tuple[Accelerator, ...]:
    """Return the cards of AMD, Intel and NVIDIA that `lspci -mm` lists."""
    cards = []
    for line in text.splitlines():
        fields = [quoted or plain for quoted, plain in _FIELD.findall(line)]
        if len(fields) > 3 and fields[1].lower() in _DISPLAY_NAMES and vendor_of(fields[2]):  # noqa: PLR2004 - slot, class, vendor, device
            vendor = vendor_of(fields[2])
            bracketed = re.search(r"\[(.+)\]", fields[3])
            name = bracketed[1] if bracketed else fields[3]
            cards.append(Accelerator(name=f"{vendor} {name}", vendor=vendor, detail=f"PCI {fields[0]}"))
    return tuple(cards)


def parse_rocminfo(text: str) -> tuple[Accelerator, ...]:
    """Return the GPUs among the agents of rocminfo."""
    cards = []
    for agent in re.split(r"^Agent \d+", text, flags=re.MULTILINE)[1:]:
        values = dict(re.findall(r"^\s+(Name|Marketing Name|Device Type):\s*(\S.*?)\s*$", agent, re.MULTILINE)[::-1])
        if values.get("Device Type") == "GPU":
            name = values.get("Marketing Name") or values.get("Name", "")
            cards.append(Accelerator(name=name, vendor="AMD", apis=("rocm",), detail=values.get("Name", "")))
    return tuple(cards)


def _rocm(means: Means) -> Equipment:
    cards = parse_rocminfo(means.output("rocminfo"))
    version = (means.read(_ROCM_VERSION) or "").strip().partition("-")[0]
    if not cards and not version:
        return Equipment()
    detail = "" if cards else "rocminfo lists no GPU"
    return Equipment(cards, (Driver(api="rocm", name="ROCm", version=version, usable=bool(cards), detail=detail),))


def _pci_cards(means: Means) -> tuple[Accelerator, ...]:
    cards = []
    for folder in means.files.list(_PCI):
        kind, vendor, device = ((means.read(folder / name) or "").strip() for name in ("class", "vendor", "device"))
        if kind.startswith(_DISPLAY_CLASSES) and vendor in VENDORS:
            name = f"{VENDORS[vendor]} {vendor[2:]}:{device[2:]}"
            cards.append(Accelerator(name=name, vendor=VENDORS[vendor], detail=f"PCI {folder.name}"))
    return tuple(cards)


def _libc(means: Means) -> str:
    said = means.output("getconf", "GNU_LIBC_VERSION")
    if said:
        return parse_libc(said)
    return "musl" if any("musl" in path.name for path in means.files.list(Path("/lib"))) else ""
