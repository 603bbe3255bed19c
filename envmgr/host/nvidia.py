"""NVIDIA cards and their driver, from nvidia-smi and from what the Linux kernel module says."""

from __future__ import annotations

import re
from pathlib import Path

from envmgr.host.machine import Equipment
from envmgr.host.surroundings import Means
from envmgr.model.host import Accelerator, Driver, Lack

_QUERY = "name,driver_version,memory.total,compute_cap"
_OLD_QUERY = "name,driver_version,memory.total"
_KERNEL_VERSION = Path("/proc/driver/nvidia/version")
_KERNEL_CARDS = Path("/proc/driver/nvidia/gpus")


def nvidia_equipment(means: Means) -> Equipment:
    """Return the NVIDIA cards that a driver knows; nothing where there is no driver."""
    listed = ""
    for query in (_QUERY, _OLD_QUERY):
        listed = listed or means.output("nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader,nounits")
    if listed:
        cards, version = parse_query(listed)
        level = parse_cuda_level(means.output("nvidia-smi"))
        driver = Driver(api="cuda", name="NVIDIA driver", version=version, detail=f"CUDA {level}" if level else "")
        return Equipment(cards, (driver,))
    version = parse_kernel_version(means.read(_KERNEL_VERSION) or "")
    if not version:
        return Equipment()
    detail = "the kernel module is loaded, nvidia-smi does not answer"
    driver = Driver(api="cuda", name="NVIDIA driver", version=version, usable=False, detail=detail)
    texts = [means.read(folder / "information") or "" for folder in means.files.list(_KERNEL_CARDS)]
    return Equipment(tuple(card for text in texts for card in parse_kernel_card(text)), (driver,))


def nvidia_lacks(equipment: Equipment) -> tuple[Lack, ...]:
    """Return the driver as lacking where there is a card and no usable driver."""
    cards = [card.name for card in equipment.accelerators if card.vendor == "NVIDIA"]
    if not cards or any(driver.api == "cuda" and driver.usable for driver in equipment.drivers):
        return ()
    how = {"debian": "apt-get install nvidia-driver", "windows": "install the NVIDIA driver of the card"}
    return (Lack(need="driver", name="NVIDIA driver", why=f"{cards[0]} cannot be reached through CUDA", how=how),)


def parse_query(text: str) -> tuple[tuple[Accelerator, ...], str]:
    """Return the cards that `nvidia-smi --query-gpu` lists, and the driver's version."""
    cards, version = [], ""
    for line in text.splitlines():
        fields = [field.strip() for field in line.split(",")]
        if len(fields) < len(_OLD_QUERY.split(",")):
            continue
        name, version = fields[0], fields[1]
        capability = f", compute capability {fields[3]}" if len(fields) > len(_OLD_QUERY.split(",")) else ""
        detail = f"{fields[2]} MiB{capability}"
        cards.append(Accelerator(name=name, vendor="NVIDIA", apis=("cuda",), detail=detail))
    return tuple(cards), version


def parse_cuda_level(text: str) -> str:
    """Return the newest CUDA that the driver can serve, from nvidia-smi's own table."""
    found = re.search(r"CUDA(?: UMD)? Version:\s*([0-9.]+)", text)
    return found[1] if found else ""


def parse_kernel_version(text: str) -> str:
    """Return the driver's version from /proc/driver/nvidia/version."""
    found = re.search(r"NVRM version:.*?\s(\d+\.[0-9.]+)\s", text)
    return found[1] if found else ""


def parse_kernel_card(text: str) -> tuple[Accelerator, ...]:
    """Return the card that one /proc/driver/nvidia/gpus/*/information tells of."""
    found = re.search(r"^Model:\s*(.+?)\s*$", text, re.MULTILINE)
    return (Accelerator(name=found[1], vendor="NVIDIA"),) if found else ()
