"""PlaidML on a processor through OpenCL: the library's name, the hardware entry, the numbers that come out right."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from envmgr.model.env import Check, DeviceListing
from envmgr.model.host import Lack
from envmgr.model.noun import Noun

LINK = "libOpenCL.so"
"""The name that PlaidML opens on Linux; loaders come as `libOpenCL.so.1` without it."""

_SETTINGS = {"threads": 1, "vec_size": 1, "mem_width": 64, "max_mem": 32768, "max_regs": 32768, "use_global": True}
"""With a `vec_size` of 16 predictions are right and a loss has the wrong sign, without an error: 1 it is."""


class OpenClDevice(Noun):
    """A device as OpenCL itself names it, seen from inside an env."""

    type: str
    name: str
    vendor: str


class OpenClSetup(Noun):
    """Files (path: text) and links (path: target) to make, and variables to set."""

    files: dict[str, str]
    links: dict[str, str]
    variables: dict[str, str]


def opencl_devices(listing: DeviceListing) -> tuple[OpenClDevice, ...]:
    """Return the devices that PlaidML's probe saw through OpenCL's library, whether PlaidML lists them or not."""
    try:
        adapter = TypeAdapter(tuple[OpenClDevice, ...])
        return adapter.validate_json(listing.facts.get("opencl_devices") or "[]")
    except ValidationError:
        return ()


def sees_opencl(listing: DeviceListing) -> bool:
    """Tell whether PlaidML found OpenCL's library under the name by which it asks for it."""
    return listing.facts.get("opencl_library") == LINK


def experimental_config(stock: str, vendor: str) -> str:
    """Return PlaidML's experimental configuration with an entry for a processor of this OpenCL vendor put first.

    `stock` is the text of the `experimental.json` that is installed; `vendor` is as OpenCL says it (`AuthenticAMD`).
    """
    configuration: dict[str, Any] = json.loads(stock)
    entry = {
        "description": f"CPU of {vendor} through OpenCL",
        "sel": {"vendor_regex": f".*{re.escape(vendor)}.*"},
        "settings": _SETTINGS,
    }
    platform = configuration["platform"]
    platform["hardware_configs"] = [entry, *platform["hardware_configs"]]
    return json.dumps(configuration, indent=2) + "\n"


def processor_setup(listing: DeviceListing, stock: str, home: Path) -> OpenClSetup | None:
    """Return what makes PlaidML use this host's processor through OpenCL, kept in a cell's own home.

    None where OpenCL's library shows no processor. `stock` is the text of the installed `experimental.json`.
    """
    processor = next((device for device in opencl_devices(listing) if device.type == "cpu"), None)
    library = listing.facts.get("opencl_library_path", "")
    if processor is None or not library:
        return None
    folder = home / ".envmgr-opencl"
    configuration = folder / "experimental.json"
    return OpenClSetup(
        files={str(configuration): experimental_config(stock, processor.vendor)},
        links={str(folder / "lib" / LINK): library},
        variables={"PLAIDML_EXPERIMENTAL_CONFIG": str(configuration), "LD_LIBRARY_PATH": str(folder / "lib")},
    )


def opencl_checks(listing: DeviceListing) -> tuple[Check, ...]:
    """Return what keeps PlaidML from OpenCL devices that are there; PlaidML itself says nothing.

    A lack is told without failing: a version set works without them unless it asks for one.
    """
    library = listing.facts.get("opencl_library")
    seen = opencl_devices(listing)
    if not library or not seen:
        return ()
    subject = ", ".join(f"{device.name} ({device.vendor})" for device in seen)
    if not sees_opencl(listing):
        return (_library_check(library, subject),)
    offered = [device for device in listing.devices if device.api == "opencl" and device.valid]
    refused = [device for device in listing.devices if device.api == "opencl" and not device.valid]
    if refused:
        return (_entry_check(listing, refused[0].id, seen, subject),)
    if offered:
        return (Check(name="opencl", passed=True, subject=subject, found=", ".join(each.id for each in offered)),)
    found = f"plaidml {listing.version} lists no OpenCL device for it"
    return (Check(name="opencl", passed=True, subject=subject, found=found),)


def _library_check(library: str, subject: str) -> Check:
    how = {"debian": "apt-get install ocl-icd-opencl-dev"}
    why = f"PlaidML opens this name; with {library} alone it leaves OpenCL out without a message"
    return Check(
        name="opencl library",
        passed=True,
        subject=subject,
        wanted=LINK,
        found=f"{library} alone",
        hint=f"install ocl-icd-opencl-dev, or name a folder with a link {LINK} in LD_LIBRARY_PATH under [env]",
        lacks=(Lack(need="library", name=LINK, why=why, how=how),),
    )


def _entry_check(listing: DeviceListing, device: str, seen: tuple[OpenClDevice, ...], subject: str) -> Check:
    vendors = ", ".join(sorted({each.vendor for each in seen}))
    place = listing.facts.get("experimental_config") or "experimental.json"
    why = f"{place} has no hardware entry that matches the vendor {vendors}, so {device} is invalid"
    return Check(
        name="opencl hardware entry",
        passed=True,
        subject=subject,
        wanted=f"an entry for {vendors} in hardware_configs",
        found=f"{device} among the invalid devices",
        hint="name a copy of experimental.json with such an entry (vec_size 1) as PLAIDML_EXPERIMENTAL_CONFIG in [env]",
        lacks=(Lack(need="setting", name="PLAIDML_EXPERIMENTAL_CONFIG", why=why),),
    )
