"""The oldest systems that a lock is made for: wheels are chosen that run there and on everything newer."""

from __future__ import annotations

from dataclasses import dataclass

from envmgr.model.platform import Platform

_GLIBCS = ("2.28", "2.31", "2.34", "2.36", "2.39")
_MACOS = ("11.0", "12.0", "13.0", "14.0", "15.0")


@dataclass(frozen=True, slots=True)
class Floor:
    """One oldest system: `platform` and `variables` as uv takes them, `minimum` as a lock tells it."""

    platform: str
    minimum: str
    variables: tuple[tuple[str, str], ...] = ()


def floors(platform: Platform) -> tuple[Floor, ...]:
    """Return the oldest systems to try for a platform, the oldest first: a newer one only where wheels demand it.

    glibc 2.28 is that of Debian 10 and Enterprise Linux 8; macOS 11 is the first for Apple silicon.
    """
    match platform.system:
        case "linux":
            return tuple(
                Floor(f"{platform.arch}-manylinux_{each.replace('.', '_')}", f"glibc {each}") for each in _GLIBCS
            )
        case "macos":
            name = f"{'aarch64' if platform.arch == 'arm64' else platform.arch}-apple-darwin"
            return tuple(Floor(name, f"macos {each}", (("MACOSX_DEPLOYMENT_TARGET", each),)) for each in _MACOS)
        case _:
            return (Floor("x86_64-pc-windows-msvc", ""),)
