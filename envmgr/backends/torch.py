"""PyTorch: CPU, CUDA (ROCm under its name), Apple's MPS."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from packaging.version import InvalidVersion, Version

from envmgr.backends.backend import PROBES, Backend, answered
from envmgr.model.env import Check, Device, DeviceListing
from envmgr.model.host import HostFacts
from envmgr.model.platform import Platform

_FIRST_MPS = Version("1.12")


class Torch(Backend):
    """PyTorch's devices are `cpu`, `cuda:0` … and `mps`."""

    name = "torch"
    apis: ClassVar = frozenset({"cpu", "cuda", "mps", "rocm"})
    probe: ClassVar = PROBES / "torch_devices.py"

    def base_environment(self) -> dict[str, str]:
        """Keras 3 in the same env follows torch."""
        return {"KERAS_BACKEND": "torch"}

    def select(self, device: Device | None, *, alone: bool = False) -> dict[str, str]:
        """Return the variables that choose a device; torch itself is told by its program."""
        if device is None:
            return {}
        if device.api == "cpu":
            return {"KERAS_TORCH_DEVICE": "cpu", "CUDA_VISIBLE_DEVICES": "-1"}
        number = device.id.partition(":")[2]
        if alone and number:
            return {"KERAS_TORCH_DEVICE": "cuda:0", "CUDA_VISIBLE_DEVICES": number}
        return {"KERAS_TORCH_DEVICE": device.id}

    def predict(self, host: HostFacts, platform: Platform, resolved: Mapping[str, str]) -> tuple[Device, ...]:
        """Return `cpu`, and cards that a build with these versions could reach."""
        version = resolved.get("torch", "")
        devices = [Device(id="cpu", api="cpu", physical="cpu")]
        if _has_cuda(version, platform, resolved):
            cards = [card for card in host.accelerators if "cuda" in card.apis]
            devices += [
                Device(id=f"cuda:{number}", api="cuda", physical=card.name) for number, card in enumerate(cards)
            ]
        if platform is Platform.MACOS_ARM64 and _new_enough(version):
            devices += [
                Device(id="mps", api="mps", physical=card.name) for card in host.accelerators if "mps" in card.apis
            ][:1]
        return tuple(devices)

    def diagnose_listing(self, listing: DeviceListing, host: HostFacts) -> tuple[Check, ...]:
        """Tell built and available apart; a card that the host has and a build that knows it cannot use is amiss."""
        if listing.error:
            return (answered(listing),)
        known = (api for api in ("cuda", "rocm", "mps") if api in listing.built)
        return (answered(listing), *(_api_check(api, listing, host) for api in known))


def _api_check(api: str, listing: DeviceListing, host: HostFacts) -> Check:
    built, available = listing.built[api], listing.available.get(api, False)
    here = [card.name for card in host.accelerators if api in card.apis]
    reason = listing.reasons.get(api, "")
    amiss = built and not available and bool(here)
    state = f"{'built' if built else 'not built'}, {'available' if available else 'not available'}"
    return Check(
        name=api,
        passed=not amiss,
        subject=f"torch {listing.version}",
        wanted=f"built and available for {', '.join(here)}" if here else "",
        found=f"{state}: {reason}" if reason else state,
        hint=_hint(api, listing) if amiss else "",
    )


def _hint(api: str, listing: DeviceListing) -> str:
    if api == "mps":
        return (
            f"macOS {listing.facts.get('macos', '?')}, Python for {listing.facts.get('machine', '?')}: see the reason"
        )
    toolkit = listing.facts.get(api, "")
    return f"this torch is for {api} {toolkit}: look whether the driver is as new (`envmgr doctor`)"


def _has_cuda(version: str, platform: Platform, resolved: Mapping[str, str]) -> bool:
    if "+cpu" in version or platform.system == "macos":
        return False
    return "+cu" in version or any(name.startswith("nvidia-") for name in resolved)


def _new_enough(version: str) -> bool:
    try:
        return not version or Version(version) >= _FIRST_MPS
    except InvalidVersion:
        return True
