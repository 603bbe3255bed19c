"""What envmgr gathered of a host, in the form in which recorded failures are judged."""

from __future__ import annotations

from collections.abc import Mapping

from envmgr.diagnose.records.record import Facts, PythonFacts
from envmgr.model.host import HostFacts, Interpreter

SYSTEMS = {"linux": "Linux", "macos": "Darwin", "windows": "Windows"}
"""What Python's `platform.system()` says of each system."""


def facts_of_host(
    host: HostFacts, interpreter: Interpreter | None = None, installed: Mapping[str, str] | None = None
) -> Facts:
    """Return what envmgr gathered of a host in the form in which recorded failures are judged."""
    libc, _, version = host.libc.partition(" ")
    python = PythonFacts()
    if interpreter is not None:
        python = PythonFacts(
            implementation=interpreter.implementation,
            version=interpreter.version,
            arch=interpreter.arch,
            translated=interpreter.translated,
        )
    return Facts.model_validate(
        {
            "system": SYSTEMS[host.system],
            "os_version": host.os_version,
            "machine": host.machine,
            "libc": {"name": libc, "version": version},
            "cpu_features": host.cpu_features or None,
            "python": python,
            "gpus": [
                {"name": one.name, "vendor": one.vendor, "api": one.apis}
                for one in host.accelerators
                if one.kind == "gpu"
            ],
            "drivers": {driver.name: driver.version for driver in host.drivers if driver.usable},
            "installed": dict(installed or {}),
        }
    )
