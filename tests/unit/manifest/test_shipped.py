"""What travels with envmgr is read and checked as a user's own files are."""

from __future__ import annotations

from pathlib import Path

import pytest

import envmgr
from envmgr.manifest.check import check_collection, check_manifest, check_matrix
from envmgr.manifest.read import parse_manifest, parse_matrix
from envmgr.model.manifest import Manifest

ROOT = Path(envmgr.__file__).parent.parent
FOLDER = ROOT / "manifests"
RUNNERS = {path.stem for path in (ROOT / "runners").glob("*.py")}
BACKENDS = {"plaidml", "keras", "tensorflow", "jax", "torch"}


@pytest.fixture(scope="module")
def manifests() -> dict[str, Manifest]:
    return {path.stem: parse_manifest(path.read_text("utf-8"), str(path)) for path in sorted(FOLDER.glob("*.toml"))}


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.toml")), ids=lambda path: path.stem)
def test_every_manifest_is_sound(path: Path) -> None:
    text = path.read_text("utf-8")
    manifest = parse_manifest(text, str(path))
    check_manifest(manifest, text=text, source=str(path), runners=RUNNERS, backends=BACKENDS)
    assert manifest.summary


@pytest.mark.parametrize("path", sorted((FOLDER / "matrices").glob("*.toml")), ids=lambda path: path.stem)
def test_every_matrix_is_sound(path: Path, manifests: dict[str, Manifest]) -> None:
    text = path.read_text("utf-8")
    matrix = parse_matrix(text, str(path))
    check_matrix(matrix, text=text, source=str(path), runners=RUNNERS, manifests=manifests)


def test_no_name_is_given_twice(manifests: dict[str, Manifest]) -> None:
    check_collection(list(manifests.items()))


def test_core_and_bridge_are_pinned_together_wherever_they_are_resolved(manifests: dict[str, Manifest]) -> None:
    sets = [each for name, each in manifests.items() if name.startswith("plaidml-") and each.requirements]
    assert len(sets) == 4
    for manifest in sets:
        pins = dict(text.split("==") for text in manifest.requirements if text.startswith("plaidml"))
        assert pins["plaidml"] == pins["plaidml-keras"]


def test_the_quick_matrix_never_fetches_gigabytes() -> None:
    text = (FOLDER / "matrices" / "quick.toml").read_text("utf-8")
    assert not {"torch-stable", "torch-nightly", "torch-1.13"} & set(parse_matrix(text, "quick.toml").manifests)
