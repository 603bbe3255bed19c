"""PlaidML on this host's processor through OpenCL: what its driver alone does not bring."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import tomlkit

from envmgr.app.building import BuildWishes
from envmgr.app.hand import build_named
from envmgr.app.hosting import facts_here
from envmgr.app.probing import list_devices
from envmgr.app.workplace import Workplace
from envmgr.backends.opencl import processor_setup
from envmgr.errors import HostError

_STOCK = Path("share", "plaidml", "experimental.json")
"""Where PlaidML's wheel puts its experimental configuration, from the env's folder."""


class OpenClWritten(NamedTuple):
    """The files that were written, and the variables that cells of PlaidML get on this host from now on."""

    files: tuple[str, ...]
    variables: dict[str, str]


def set_up_opencl(workplace: Workplace, name: str) -> OpenClWritten:
    """Write the hardware entry and the library link that PlaidML needs, and name them in this host's configuration.

    Nothing of the system or of an env is changed. Raises HostError where OpenCL shows no processor.
    """
    built = build_named(workplace, name, BuildWishes())
    listing = list_devices(workplace, built.env, built.target.manifest, facts_here(workplace))
    stock = workplace.files.read(Path(built.env.path) / _STOCK)
    setup = processor_setup(listing, stock, workplace.folders.configuration) if stock else None
    if setup is None:
        raise HostError(
            f"{name} sees no processor through OpenCL here",
            listing.error or "wanted an OpenCL driver for the processor (pocl) and PlaidML; found none in its probe",
            "apt-get install pocl-opencl-icd ocl-icd-libopencl1",
        )
    for path, text in setup.files.items():
        workplace.files.write(Path(path), text)
    for path, target in setup.links.items():
        workplace.files.link(Path(target), Path(path))
    document = tomlkit.parse(workplace.files.read(workplace.host_file) or "")
    document["plaidml"] = {**document.get("plaidml", {}), **setup.variables}
    workplace.files.write(workplace.host_file, tomlkit.dumps(document))
    return OpenClWritten((*setup.files, *setup.links, str(workplace.host_file)), setup.variables)
