"""How much will be downloaded, from what an index says of its files (PEP 691 and 700)."""

from __future__ import annotations

import json
from collections.abc import Collection

from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from envmgr.env.compare import fits
from envmgr.model.env import InstalledDistribution
from envmgr.model.platform import Platform


def download_size(page: str, hashes: Collection[str], minor: str, platform: Platform) -> int | None:
    """Return the bytes of the artefact that would be downloaded, or None where the index tells no size.

    `page` is the index's JSON page of one distribution, `hashes` are those that the lock admits (`sha256:…`). Where
    several wheels fit the largest counts; a source distribution counts only where no wheel does.
    """
    try:
        files = json.loads(page).get("files", ())
        admitted = [file for file in files if f"sha256:{file.get('hashes', {}).get('sha256')}" in hashes]
    except (ValueError, AttributeError):
        return None
    wheels = [file for file in admitted if _wheel_fits(str(file.get("filename")), minor, platform)]
    sources = [file for file in admitted if not str(file.get("filename")).endswith(".whl")]
    sizes = [file["size"] for file in wheels or sources if isinstance(file.get("size"), int)]
    return max(sizes, default=None)


def _wheel_fits(filename: str, minor: str, platform: Platform) -> bool:
    try:
        name, version, _, tags = parse_wheel_filename(filename)
    except InvalidWheelFilename:
        return False
    wheel = InstalledDistribution(name=name, version=str(version), tags=tuple(str(tag) for tag in tags))
    return fits(wheel, minor, platform)
