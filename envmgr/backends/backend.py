"""What envmgr knows of a backend: its probe, its device names, how to choose one, what its answers mean."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import ClassVar

from envmgr.model.env import Check, Device, DeviceListing
from envmgr.model.host import Accelerator, HostFacts
from envmgr.model.outcome import Outcome
from envmgr.model.platform import Platform

PROBES = Path(__file__).with_name("probes")

API_WORDS = {
    "metal": "metal",
    "opencl": "opencl",
    "llvm": "llvm",
    "cuda": "cuda",
    "gpu": "cuda",
    "rocm": "rocm",
    "hip": "rocm",
    "mps": "mps",
    "cpu": "cpu",
}
"""The first word of a device's name, and the API that it stands for."""

_VENDOR_WORDS = {"nvidia", "amd", "intel", "apple", "corporation", "inc", "graphics", "gpu", "r", "tm"}


class Backend(ABC):
    """One library that computes on devices.

    `probe` is a stand-alone script for an env's own interpreter: `python -I PROBE --request in.json --report out.json`
    with the request {"device": null | id}; its report is a DeviceListing, and with a device it has also tried a small
    operation there.
    """

    name: ClassVar[str]
    apis: ClassVar[frozenset[str]]
    probe: ClassVar[Path]

    @abstractmethod
    def base_environment(self) -> dict[str, str]:
        """Return the variables that make this the active backend, whatever the device."""

    @abstractmethod
    def select(self, device: Device | None, *, alone: bool = False) -> dict[str, str]:
        """Return the variables that choose a device for one process; none leaves the choice to the backend.

        With `alone` other cards are hidden, for programs that take the first they see (it is number 0 then).
        """

    @abstractmethod
    def predict(self, host: HostFacts, platform: Platform, resolved: Mapping[str, str]) -> tuple[Device, ...]:
        """Return the devices to be expected on a host that cannot be asked, from its facts and the locked versions."""

    @abstractmethod
    def diagnose_listing(self, listing: DeviceListing, host: HostFacts) -> tuple[Check, ...]:
        """Return what a listing says about this env on this host: what works, and what is amiss."""

    def matches(self, asked: str, device: Device) -> bool:
        """Tell whether a device is meant: by its id, by the beginning of its id, by its API or by what it is.

        `cuda` and `gpu` mean the same; a missing number is any number.
        """
        wanted, identity = asked.lower(), device.id.lower()
        if wanted in {identity, device.api.lower(), device.physical.lower()}:
            return True
        spellings = {wanted, wanted.replace("cuda", "gpu"), wanted.replace("gpu", "cuda")}
        return any(
            identity == each or (identity.startswith(each) and identity[len(each)] in ".:_") for each in spellings
        )

    def absent(self, asked: str, listing: DeviceListing, host: HostFacts, host_reason: str = "") -> tuple[Outcome, str]:
        """Return why a device that was asked for is not in a listing.

        `host_reason` is why the host cannot have a device of `api_of(asked)`, empty when it can. `unavailable` means
        that the host lacks it, `not-offered` that the host has it, through the APIs that are named, but this backend
        does not list it, or lists it as one that it will not open.
        """
        label = " ".join(part for part in (self.name, listing.version) if part)
        refused = next((device for device in listing.devices if not device.valid and self.matches(asked, device)), None)
        if refused is not None:
            why = refused.detail or "it is in the list of invalid devices"
            return Outcome.NOT_OFFERED, f"{label} knows {refused.id} and does not open it: {self.refusal(listing, why)}"
        api = api_of(asked)
        card = card_named(asked, host.accelerators)
        if card is not None and card.apis:
            return Outcome.NOT_OFFERED, f"{card.name} is here through {', '.join(card.apis)}; {label} does not list it"
        if host_reason:
            return Outcome.UNAVAILABLE, host_reason
        reached = [each for each in host.accelerators if api in each.apis]
        if reached:
            names = ", ".join(each.name for each in reached)
            reason = listing.reasons.get(api, "")
            told = f"{names} is here through {api}; {label} does not list it"
            return Outcome.NOT_OFFERED, f"{told}: {reason}" if reason else told
        listed = ", ".join(device.id for device in listing.devices if device.valid) or "nothing"
        lacking = listing.reasons.get(api) or f"no device of this host is reached through {api or asked}"
        return Outcome.UNAVAILABLE, f"{lacking} (wanted {asked}; {label} lists {listed})"

    def refusal(self, listing: DeviceListing, detail: str) -> str:  # noqa: ARG002 - backends say more from the listing
        """Return why a listed device is not opened."""
        return detail


def api_of(asked: str) -> str:
    """Return the API that a device's name speaks of, or "".

    >>> api_of("metal_amd_radeon_pro_5300m.0"), api_of("cuda:1"), api_of("GPU:0")
    ('metal', 'cuda', 'cuda')
    """
    word = asked.lower().replace(":", "_").replace(".", "_").split("_", 1)[0]
    return API_WORDS.get(word, "")


def card_named(text: str, accelerators: Iterable[Accelerator]) -> Accelerator | None:
    """Return the accelerator whose name stands in a device's id or description; vendors' names alone do not count."""
    words = _words(text)
    for card in accelerators:
        telling = _words(card.name) - _VENDOR_WORDS
        if telling and telling <= words:
            return card
    return None


def attributed(listing: DeviceListing, host: HostFacts) -> DeviceListing:
    """Return the listing with the host's name of the card as each device's `physical`: one card, whatever the API."""
    devices = tuple(
        device.model_copy(update={"physical": _physical(device, host.accelerators)}) for device in listing.devices
    )
    return listing.model_copy(update={"devices": devices})


def operation_check(listing: DeviceListing, device: str) -> Check:
    """Return whether a small operation on a device was carried out there and gave the right value."""
    facts = listing.facts
    if listing.error:
        return Check(
            name="operation", passed=False, subject=device, wanted="a matrix product on it", found=listing.error
        )
    there = facts.get("operation_device", "").lower()
    same = there in {device.lower(), f"{device.lower()}:0"}
    found = f"a product off by {facts.get('operation_deviation', '?')} on {there or 'no device'}"
    passed = same and facts.get("operation") == "right"
    return Check(
        name="operation",
        passed=passed,
        subject=device,
        wanted=f"an exact matrix product on {device}",
        found=found,
        hint="" if passed else "do not trust numbers from this device",
    )


def answered(listing: DeviceListing) -> Check:
    """Return whether the backend could be asked at all."""
    good = not listing.error
    phase = listing.error_phase.value if listing.error_phase else "backend"
    return Check(
        name="backend",
        passed=good,
        subject=listing.backend,
        wanted="an answer which devices there are",
        found=", ".join(device.id for device in listing.devices) or "no device" if good else listing.error,
        hint="" if good else f"it fails in the phase {phase}; see the build's resolved versions",
    )


def _physical(device: Device, accelerators: Iterable[Accelerator]) -> str:
    if device.physical == "cpu" or device.api in {"cpu", "llvm"}:
        return "cpu"
    cards = tuple(card for card in accelerators if card.kind != "cpu")
    named = card_named(f"{device.id} {device.detail} {device.physical}", cards)
    if named is not None:
        return named.name
    reached = [card.name for card in cards if device.api in card.apis]
    return reached[0] if len(reached) == 1 else device.physical


def _words(text: str) -> set[str]:
    plain = "".join(character if character.isalnum() else " " for character in text.lower())
    return set(plain.split())
