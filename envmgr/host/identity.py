"""Which machine this is: two of one name are told apart."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

from envmgr.host.machine import Machine
from envmgr.host.surroundings import Means, Surroundings

_LENGTH = 12
_LINUX = (Path("/etc/machine-id"), Path("/var/lib/dbus/machine-id"))
_MAC = re.compile(r'"IOPlatformUUID"\s*=\s*"([^"]+)"')
_WINDOWS_KEY = r"HKLM\SOFTWARE\Microsoft\Cryptography"
_WINDOWS = re.compile(r"MachineGuid\s+REG_SZ\s+(\S+)")


def identity_of(means: Means, around: Surroundings, machine: Machine) -> str:
    """Return a digest of what the system calls this installation and of its processor; neither can be read from it.

    The processor is in it because copies of one image share the former; what changes with updates, memory or cards is
    not.
    """
    stable = (_installation(means, around), around.system, machine.machine, machine.processor)
    return hashlib.sha256(json.dumps(["envmgr", *stable]).encode()).hexdigest()[:_LENGTH]


def _installation(means: Means, around: Surroundings) -> str:
    if around.system == "macos":
        return _found(_MAC, means.output("ioreg", "-rd1", "-c", "IOPlatformExpertDevice"))
    if around.system == "windows":
        return _found(_WINDOWS, means.output("reg", "query", _WINDOWS_KEY, "/v", "MachineGuid"))
    return next((text.strip() for path in _LINUX if (text := means.read(path))), "")


def _found(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return match[1] if match else ""
