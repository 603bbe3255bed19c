"""The two halves of what is gathered about a machine, each filled in by the module of its system."""

from __future__ import annotations

from dataclasses import dataclass

from envmgr.model.host import Accelerator, Driver, Lack

VENDORS = {"0x10de": "NVIDIA", "0x1002": "AMD", "0x8086": "Intel"}
"""The PCI vendors whose cards compute; the others are consoles and virtual screens."""


@dataclass(frozen=True, slots=True)
class Machine:
    """System and processor; `memory` is bytes, `machine` the native architecture, whoever asks."""

    os_version: str = ""
    machine: str = ""
    libc: str = ""
    processor: str = ""
    cores: int = 0
    memory: int = 0
    cpu_features: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Equipment:
    """What computes besides the processor, what drives it, and what is missing."""

    accelerators: tuple[Accelerator, ...] = ()
    drivers: tuple[Driver, ...] = ()
    lacks: tuple[Lack, ...] = ()

    def __add__(self, other: Equipment) -> Equipment:
        return Equipment(self.accelerators + other.accelerators, self.drivers + other.drivers, self.lacks + other.lacks)


def vendor_of(text: str) -> str:
    """Return NVIDIA, AMD, Intel or Apple for a vendor as any source spells it, "" for all others.

    >>> vendor_of("Advanced Micro Devices, Inc. [AMD/ATI]")
    'AMD'
    """
    lowered = text.lower()
    if lowered in VENDORS:
        return VENDORS[lowered]
    names = {"nvidia": "NVIDIA", "advanced micro devices": "AMD", "amd": "AMD", "intel": "Intel", "apple": "Apple"}
    return next((vendor for name, vendor in names.items() if name in lowered), "")
