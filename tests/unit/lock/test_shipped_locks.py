"""The locks that travel with envmgr: there for everything that can be locked, fresh, without a trace of this or that host."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

import envmgr
from envmgr.lock.inputs import served, staleness
from envmgr.lock.parse import parse
from envmgr.lock.render import render
from envmgr.manifest.expand import target, variants
from envmgr.manifest.read import parse_manifest
from envmgr.model.manifest import Target
from envmgr.model.platform import Platform

FOLDER = Path(envmgr.__file__).parent.parent / "manifests"
MANIFESTS = [parse_manifest(path.read_text("utf-8"), str(path)) for path in sorted(FOLDER.glob("*.toml"))]
TARGETS = [
    target(manifest, variant, platform)
    for manifest in MANIFESTS
    if manifest.requirements and not manifest.floating
    for variant, platform in product(variants(manifest), manifest.platforms)
]
FROM_AN_INDEX_THAT_DID_NOT_ANSWER = {
    ("keras-torch", Platform.LINUX_AARCH64),
    ("torch-cpu", Platform.LINUX_AARCH64),
}


def path_of(chosen: Target) -> Path:
    return FOLDER / "locks" / chosen.manifest.name / f"{chosen.variant}-{chosen.platform}.txt"


def missing(chosen: Target) -> bool:
    return (chosen.manifest.name, chosen.platform) in FROM_AN_INDEX_THAT_DID_NOT_ANSWER


@pytest.mark.parametrize("chosen", TARGETS, ids=lambda chosen: f"{chosen.label}-{chosen.platform}")
def test_every_target_has_a_fresh_lock(chosen: Target) -> None:
    path = path_of(chosen)
    assert path.exists() != missing(chosen)
    if missing(chosen):
        return
    text = path.read_text("utf-8")
    lock = parse(text, str(path))
    assert staleness(lock, chosen) == ""
    assert render(lock) == text
    assert "://" not in text
    assert {each.name: each.index for each in lock.distributions if each.index} == served(chosen)
    sources = {each.name for each in lock.distributions if each.source}
    assert sources <= set(chosen.manifest.allow_source)
    assert bool(sources) == bool(lock.builds)


def test_no_lock_is_left_of_a_target_that_is_no_more() -> None:
    assert {path_of(chosen) for chosen in TARGETS if not missing(chosen)} == set(FOLDER.glob("locks/*/*.txt"))
