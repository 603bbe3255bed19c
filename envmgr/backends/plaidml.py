"""PlaidML 0.x: devices by id, default and experimental, and the bridge to Keras that may come apart from the core."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import ClassVar

from packaging.version import InvalidVersion, Version

from envmgr.backends.backend import PROBES, Backend, answered, api_of
from envmgr.backends.opencl import opencl_checks, opencl_devices, sees_opencl
from envmgr.model.env import Check, Device, DeviceListing
from envmgr.model.host import Accelerator, HostFacts
from envmgr.model.outcome import Outcome
from envmgr.model.platform import Platform

_LLVM_BY_DEFAULT = Version("0.7")
"""From this version on `llvm_cpu.0` is in the default configuration; before, in the experimental one alone."""


class PlaidML(Backend):
    """PlaidML's devices are `llvm_cpu.0`, `opencl_cpu.0`, `metal_amd_radeon_pro_5300m.0` and the like."""

    name = "plaidml"
    apis: ClassVar = frozenset({"llvm", "metal", "opencl"})
    probe: ClassVar = PROBES / "plaidml_devices.py"

    def base_environment(self) -> dict[str, str]:
        """Keras 2 in the same env computes with PlaidML."""
        return {"KERAS_BACKEND": "plaidml.keras.backend"}

    def select(self, device: Device | None, *, alone: bool = False) -> dict[str, str]:  # noqa: ARG002 - one at a time anyway
        """Return the variables that choose a device by its id; they win over any settings file."""
        if device is None:
            return {}
        return {"PLAIDML_DEVICE_IDS": device.id, "PLAIDML_EXPERIMENTAL": "1" if device.experimental else "0"}

    def predict(self, host: HostFacts, platform: Platform, resolved: Mapping[str, str]) -> tuple[Device, ...]:
        """Return `llvm_cpu.0`, and cards under the ids that PlaidML makes of their names."""
        llvm = Device(
            id="llvm_cpu.0", api="llvm", physical="cpu", experimental=not _llvm_by_default(resolved.get("plaidml", ""))
        )
        cards = [card for card in host.accelerators if card.kind == "gpu"]
        api = "metal" if platform.system == "macos" else "opencl"
        reached = [card for card in cards if api in card.apis]
        return (llvm, *(_card_device(api, card) for card in reached))

    def diagnose_listing(self, listing: DeviceListing, host: HostFacts) -> tuple[Check, ...]:  # noqa: ARG002 - the probe sees OpenCL itself
        """Return whether PlaidML answers and offers a device, whether core and bridge agree, and what OpenCL lacks."""
        facts = listing.facts
        pair = {"plaidml": facts.get("core", ""), "plaidml-keras": facts.get("bridge", "")}
        agreement = core_and_bridge({name: version for name, version in pair.items() if version})
        checks = [answered(listing), *((agreement,) if agreement else ())]
        if not listing.error and not any(device.valid for device in listing.devices):
            invalid = ", ".join(device.id for device in listing.devices) or "none"
            checks.append(Check(name="devices", passed=False, subject="plaidml", wanted="a device", found=invalid))
        return (*checks, *opencl_checks(listing))

    def absent(self, asked: str, listing: DeviceListing, host: HostFacts, host_reason: str = "") -> tuple[Outcome, str]:
        """Let what the probe saw overrule the host's facts: a cell's own variables may bring what the host lacks."""
        seen = opencl_devices(listing) if api_of(asked) == "opencl" and sees_opencl(listing) else ()
        if not seen:
            return super().absent(asked, listing, host, host_reason)
        names = ", ".join(f"{device.name} ({device.vendor})" for device in seen)
        outcome, reason = super().absent(asked, listing, host)
        if outcome is Outcome.NOT_OFFERED:
            return outcome, reason
        return Outcome.NOT_OFFERED, f"{names} is here through opencl; plaidml {listing.version} does not list it"

    def refusal(self, listing: DeviceListing, detail: str) -> str:
        """Name the hardware entry that is lacking rather than repeat the device's description."""
        lacks = [lack.why for check in opencl_checks(listing) for lack in check.lacks]
        return lacks[0] if lacks else detail


def core_and_bridge(resolved: Mapping[str, str]) -> Check | None:
    """Return whether plaidml and plaidml-keras are of one version; None where not both are installed.

    plaidml-keras does not pin plaidml: a resolver installs any plaidml under it, and leaves an old one alone.
    """
    core, bridge = resolved.get("plaidml"), resolved.get("plaidml-keras")
    if core is None or bridge is None:
        return None
    passed = core == bridge
    return Check(
        name="core and bridge",
        passed=passed,
        subject="plaidml-keras",
        wanted=f"plaidml {bridge}, as plaidml-keras {bridge} is",
        found=f"plaidml {core}",
        hint="" if passed else "pin both: plaidml-keras does not say which plaidml it needs",
    )


def settings_text(device: Device) -> str:
    """Return a `.plaidml` for the home of a cell, so that programs that drop the variables get the same device."""
    return json.dumps({"PLAIDML_DEVICE_IDS": [device.id], "PLAIDML_EXPERIMENTAL": device.experimental}) + "\n"


def _llvm_by_default(version: str) -> bool:
    try:
        return Version(version) >= _LLVM_BY_DEFAULT
    except InvalidVersion:
        return False


def _card_device(api: str, card: Accelerator) -> Device:
    name = card.name.lower()
    if card.vendor.lower() == "intel":
        name = name.replace("intel ", "intel(r) ")
    identity = f"{api}_{'_'.join(name.split())}.0"
    return Device(id=identity, api=api, physical=card.name, detail="expected from the host's facts")
