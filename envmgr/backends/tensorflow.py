"""TensorFlow, 1 and 2: `CPU:0`, `GPU:0`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from envmgr.backends.backend import PROBES, Backend, answered
from envmgr.model.env import Check, Device, DeviceListing
from envmgr.model.host import HostFacts
from envmgr.model.platform import Platform


class TensorFlow(Backend):
    """TensorFlow's cards are numbered as the process sees them."""

    name = "tensorflow"
    # Metal comes with a plug-in that is a distribution of its own: where it is missing, that is no lack of the host.
    apis: ClassVar = frozenset({"cpu", "cuda", "rocm"})
    probe: ClassVar = PROBES / "tensorflow_devices.py"

    def base_environment(self) -> dict[str, str]:
        """Keras of any version in the same env follows TensorFlow."""
        return {"KERAS_BACKEND": "tensorflow"}

    def select(self, device: Device | None, *, alone: bool = False) -> dict[str, str]:
        """Return the variables that choose a device: cards are hidden for `CPU:0`, all but one with `alone`."""
        if device is None:
            return {}
        if device.api == "cpu":
            return {"CUDA_VISIBLE_DEVICES": "-1"}
        number = device.id.partition(":")[2]
        return {"CUDA_VISIBLE_DEVICES": number} if alone and number and device.api == "cuda" else {}

    def predict(self, host: HostFacts, platform: Platform, resolved: Mapping[str, str]) -> tuple[Device, ...]:
        """Return `CPU:0`, and cards where the lock has what TensorFlow needs for them."""
        devices = [Device(id="CPU:0", api="cpu", physical="cpu")]
        api = "metal" if "tensorflow-metal" in resolved else "cuda"
        cuda = platform.system == "linux" and any(name.startswith("nvidia-cudnn") for name in resolved)
        if api == "metal" or cuda:
            cards = [card for card in host.accelerators if api in card.apis]
            devices += [Device(id=f"GPU:{number}", api=api, physical=card.name) for number, card in enumerate(cards)]
        return tuple(devices)

    def diagnose_listing(self, listing: DeviceListing, host: HostFacts) -> tuple[Check, ...]:
        """Return whether TensorFlow answers, and whether it was built for cards that the host has."""
        here = [card.name for card in host.accelerators if "cuda" in card.apis]
        if listing.error or not here:
            return (answered(listing),)
        built, available = listing.built.get("cuda", False), listing.available.get("cuda", False)
        told = Check(
            name="cuda",
            passed=available or not built,
            subject=f"tensorflow {listing.version}",
            wanted=f"built and available for {', '.join(here)}",
            found=f"{'built' if built else 'not built'}, {'available' if available else 'not available'}: "
            + listing.reasons.get("cuda", "devices are listed"),
            hint="" if available else "tensorflow[and-cuda] among the requirements brings CUDA's libraries",
        )
        return answered(listing), told
