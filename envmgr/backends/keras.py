"""Keras is no place to compute: what counts is which backend it really uses."""

from __future__ import annotations

from envmgr.backends.backend import PROBES
from envmgr.model.env import Check, DeviceListing

PROBE = PROBES / "keras_active.py"
"""Reports a DeviceListing without devices; its facts say which backend is active and where that came from."""


def check_active(listing: DeviceListing, wanted: str) -> Check:
    """Return whether Keras uses the backend that the manifest names; `wanted` is envmgr's name of it."""
    if listing.error:
        return Check(name="keras", passed=False, subject="keras", wanted=wanted, found=listing.error)
    active = listing.facts.get("active", "")
    passed = plain_name(active) == plain_name(wanted)
    return Check(
        name="keras",
        passed=passed,
        subject=f"keras {listing.version}",
        wanted=f"the backend {wanted}",
        found=f"{active or 'none'}, from {listing.facts.get('source', 'nowhere')}",
        hint="" if passed else _hint(listing, wanted),
    )


def settings_text(backend: str) -> str:
    """Return a `keras.json` for the home of a cell, so that programs that drop KERAS_BACKEND get the same backend."""
    name = "plaidml.keras.backend" if backend == "plaidml" else backend
    return f'{{"backend": "{name}", "floatx": "float32", "epsilon": 1e-07, "image_data_format": "channels_last"}}\n'


def plain_name(backend: str) -> str:
    """Return a backend's name without the module path by which Keras 2 loads it.

    >>> plain_name("plaidml.keras.backend")
    'plaidml'
    """
    return backend.lower().partition(".")[0]


def _hint(listing: DeviceListing, wanted: str) -> str:
    source = listing.facts.get("source", "")
    place = listing.facts.get("settings_file", "keras.json") if source == "keras.json" else source
    return f"{place} decides: set KERAS_BACKEND for {wanted} in the manifest's [env], or take it out of there"
