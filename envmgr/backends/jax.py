"""JAX: platforms and numbers (`cpu:0`, `gpu:0`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from envmgr.backends.backend import PROBES, Backend, answered
from envmgr.model.env import Check, Device, DeviceListing
from envmgr.model.host import HostFacts
from envmgr.model.platform import Platform

_PLATFORM_NAMES = {"cpu": "cpu", "cuda": "cuda", "rocm": "rocm", "metal": "METAL", "tpu": "tpu"}


class Jax(Backend):
    """JAX calls a card `gpu:0` and is asked for it as `cuda` or `rocm`."""

    name = "jax"
    # Metal comes with a plug-in that is a distribution of its own: where it is missing, that is no lack of the host.
    apis: ClassVar = frozenset({"cpu", "cuda", "rocm"})
    probe: ClassVar = PROBES / "jax_devices.py"

    def base_environment(self) -> dict[str, str]:
        """Keras 3 in the same env follows JAX."""
        return {"KERAS_BACKEND": "jax"}

    def select(self, device: Device | None, *, alone: bool = False) -> dict[str, str]:
        """Return the variables that choose the platform, and with `alone` the card."""
        if device is None:
            return {}
        chosen = {"JAX_PLATFORMS": _PLATFORM_NAMES.get(device.api, device.api)}
        number = device.id.partition(":")[2]
        if alone and device.api == "cuda" and number:
            chosen["CUDA_VISIBLE_DEVICES"] = number
        return chosen

    def predict(self, host: HostFacts, platform: Platform, resolved: Mapping[str, str]) -> tuple[Device, ...]:
        """Return `cpu:0`, and NVIDIA cards where JAX's plugin for them is in the lock."""
        devices = [Device(id="cpu:0", api="cpu", physical="cpu")]
        plugin = any(name.startswith("jax-cuda") for name in resolved)
        if plugin and platform.system == "linux":
            cards = [card for card in host.accelerators if "cuda" in card.apis]
            devices += [Device(id=f"gpu:{number}", api="cuda", physical=card.name) for number, card in enumerate(cards)]
        return tuple(devices)

    def diagnose_listing(self, listing: DeviceListing, host: HostFacts) -> tuple[Check, ...]:
        """Return whether JAX answers; a card that it does not see is told, and no fault: its plugin is apart."""
        unseen = [card.name for card in host.accelerators if "cuda" in card.apis]
        if listing.error or not unseen or listing.available.get("cuda"):
            return (answered(listing),)
        told = Check(
            name="cuda",
            passed=True,
            subject=f"jax {listing.version}",
            found=f"{', '.join(unseen)} is not used: {listing.reasons.get('cuda', 'no plugin')}",
            hint="jax[cuda12] or jax[cuda13] among the requirements brings the plugin",
        )
        return answered(listing), told
