from __future__ import annotations

from enum import StrEnum


class Platform(StrEnum):
    """System and architecture of an *interpreter* (not of the machine): what wheels are chosen by."""

    LINUX_X86_64 = "linux-x86_64"
    LINUX_AARCH64 = "linux-aarch64"
    MACOS_X86_64 = "macos-x86_64"
    MACOS_ARM64 = "macos-arm64"
    WINDOWS_X86_64 = "windows-x86_64"

    @property
    def system(self) -> str:
        """`linux`, `macos` or `windows`."""
        return self.value.split("-", 1)[0]

    @property
    def arch(self) -> str:
        """The architecture as that system names it: `x86_64`, `aarch64` or `arm64`."""
        return self.value.split("-", 1)[1]


def platform_of(system: str, machine: str) -> Platform | None:
    """Return the platform for a system and a machine as Python names them, or None if envmgr knows none.

    >>> platform_of("Darwin", "arm64")
    <Platform.MACOS_ARM64: 'macos-arm64'>
    >>> platform_of("win32", "AMD64")
    <Platform.WINDOWS_X86_64: 'windows-x86_64'>
    """
    systems = {"darwin": "macos", "macos": "macos", "linux": "linux", "windows": "windows", "win32": "windows"}
    machines = {"amd64": "x86_64", "x64": "x86_64", "x86_64": "x86_64", "arm64": "arm64", "aarch64": "aarch64"}
    known_system = systems.get(system.lower())
    arch = machines.get(machine.lower())
    if known_system is None or arch is None:
        return None
    if arch in {"arm64", "aarch64"}:
        arch = "arm64" if known_system == "macos" else "aarch64"
    try:
        return Platform(f"{known_system}-{arch}")
    except ValueError:
        return None
