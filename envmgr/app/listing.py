"""Which devices an env's backend offers here, and which the host has besides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from envmgr.app.building import BuildWishes
from envmgr.app.hand import build_named
from envmgr.app.hosting import facts_here
from envmgr.app.probing import list_devices
from envmgr.app.workplace import Workplace
from envmgr.backends import backend_for
from envmgr.errors import UsageError
from envmgr.model.env import Check, Device, DeviceListing
from envmgr.model.host import Accelerator


class NotOffered(NamedTuple):
    """A card of this host that the backend does not list, and the APIs through which it is there."""

    name: str
    apis: tuple[str, ...]


class Offer(NamedTuple):
    """What a backend offers on this host; `checks` say what is amiss and how to get more."""

    manifest: str
    listing: DeviceListing
    not_offered: tuple[NotOffered, ...]
    checks: tuple[Check, ...]


def _is_offered(card: Accelerator, offered: Sequence[Device]) -> bool:
    """Tell whether a card is among the devices; a processor that an API reaches is that API's processor device."""
    if card.kind == "cpu":
        return any(device.physical == "cpu" and device.api in card.apis for device in offered)
    return any(device.physical == card.name for device in offered)


def offered_devices(workplace: Workplace, name: str) -> Offer:
    """Return the devices that the backend of a manifest lists here, built if it is not there yet."""
    built = build_named(workplace, name, BuildWishes())
    manifest = built.target.manifest
    if manifest.backend is None:
        raise UsageError(
            f"{manifest.name} has no backend to ask for devices",
            'wanted a manifest with backend = "..."',
            "envmgr list",
        )
    facts = facts_here(workplace)
    listing = list_devices(workplace, built.env, manifest, facts)
    offered = [device for device in listing.devices if device.valid]
    others = tuple(NotOffered(card.name, card.apis) for card in facts.accelerators if not _is_offered(card, offered))
    return Offer(manifest.name, listing, others, backend_for(manifest.backend).diagnose_listing(listing, facts))
