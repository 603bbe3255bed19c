"""Which expectation of a manifest speaks of which cell."""

from __future__ import annotations

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from envmgr.model.cell import Cell
from envmgr.model.env import Device
from envmgr.model.manifest import Expect


def expects_of(cell: Cell, expects: tuple[Expect, ...]) -> tuple[Expect, ...]:
    """Return the expectations whose given fields all match the cell."""
    return tuple(
        expect
        for expect in expects
        if speaks_of(expect, cell.runner, cell.platform, cell.python)
        and (expect.device is None or _is_device(expect.device, cell.device, cell.device_asked))
    )


def speaks_of(expect: Expect, runner: str, platform: str | None, python: str) -> bool:
    """Tell whether an expectation speaks of this runner, platform and Python, whatever the device."""
    return (
        expect.runner in {None, runner}
        and expect.platform in {None, platform}
        and (expect.python is None or python_fits(expect.python, python))
    )


def python_fits(wanted: str, version: str) -> bool:
    """Tell whether a version is the wanted one, begins with it, or lies in it as a range.

    >>> python_fits("3.1", "3.10.4"), python_fits("3.10", "3.10.4"), python_fits(">=3.10", "3.12")
    (False, True, True)
    """
    if not version:
        return False
    if wanted == version or version.startswith(f"{wanted}."):
        return True
    try:
        return SpecifierSet(wanted).contains(version, prereleases=True)
    except InvalidSpecifier:
        return False


def _is_device(name: str, device: Device | None, asked: str) -> bool:
    return name == asked or (device is not None and name in {device.id, device.api})
