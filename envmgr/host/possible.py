"""What a host can have of all manifests: doctor's table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from envmgr.host.match import match
from envmgr.model.host import HostFacts, Match
from envmgr.model.manifest import Manifest


class Possibility(NamedTuple):
    """One variant of a manifest on a host: `reason` is empty when the host can have it."""

    label: str
    match: Match
    reason: str


def what_it_can_have(manifests: Iterable[Manifest], facts: HostFacts) -> tuple[Possibility, ...]:
    """Return for each manifest and variant, in their order, whether a host can have it and why not."""
    return tuple(
        Possibility(f"{manifest.name}@{variant}" if variant else manifest.name, found, found.reason)
        for manifest in manifests
        for variant in _variants(manifest)
        for found in (match(manifest, variant, facts),)
    )


def _variants(manifest: Manifest) -> tuple[str, ...]:
    return tuple(f"py{python}" for python in manifest.variants.python) if manifest.variants is not None else ("",)
