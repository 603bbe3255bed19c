from __future__ import annotations

import pytest

from envmgr.errors import UsageError
from envmgr.manifest.expand import pythons, select, target, variants
from envmgr.model.manifest import Manifest, Variants
from envmgr.model.platform import Platform


def manifest(name: str, *versions: str) -> Manifest:
    chosen = Variants(python=versions) if versions else None
    return Manifest(schema=1, name=name, python=">=3.7,<3.10", requirements=("numpy",), variants=chosen)


MANIFESTS = {
    each.name: each
    for each in (manifest("plaidml-0.6.4", "3.8", "3.7"), manifest("plaidml-0.7.0", "3.8"), manifest("keras-jax"))
}


def test_a_file_is_answered_with_the_name_that_is_meant() -> None:
    with pytest.raises(UsageError) as caught:
        select(["manifests/keras-jax.toml"], MANIFESTS)
    assert caught.value.what == "'manifests/keras-jax.toml' is a file, not a name"
    assert caught.value.why == "wanted the name of a manifest: keras-jax"


def test_variants_are_listed_default_first() -> None:
    assert variants(MANIFESTS["plaidml-0.6.4"]) == ("py3.8", "py3.7")
    assert variants(MANIFESTS["keras-jax"]) == ("default",)


def test_a_target_narrows_the_python_to_its_variant() -> None:
    chosen = target(MANIFESTS["plaidml-0.6.4"], None, Platform.LINUX_X86_64)
    assert (chosen.variant, chosen.python, chosen.label) == ("py3.8", "==3.8.*", "plaidml-0.6.4@py3.8")
    chosen = target(MANIFESTS["keras-jax"], "default", Platform.MACOS_ARM64)
    assert (chosen.variant, chosen.python, chosen.label) == ("default", ">=3.7,<3.10", "keras-jax")


def test_an_unknown_variant_is_told() -> None:
    with pytest.raises(UsageError, match=r"plaidml-0.6.4 has no variant 'py3.9'"):
        target(MANIFESTS["plaidml-0.6.4"], "py3.9", Platform.LINUX_X86_64)


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        (["keras-jax"], [("keras-jax", None)]),
        (["plaidml-0.6.4@py3.7"], [("plaidml-0.6.4", "py3.7")]),
        (["plaidml-*"], [("plaidml-0.6.4", None), ("plaidml-0.7.0", None)]),
        (["plaidml-*@py3.7"], [("plaidml-0.6.4", "py3.7")]),
        (["plaidml-0.6.4@*"], [("plaidml-0.6.4", "py3.8"), ("plaidml-0.6.4", "py3.7")]),
        (["keras-jax", "*"], [("keras-jax", None), ("plaidml-0.6.4", None), ("plaidml-0.7.0", None)]),
        ([], []),
    ],
)
def test_names_select(names: list[str], chosen: list[tuple[str, str | None]]) -> None:
    assert [(each.name, variant) for each, variant in select(names, MANIFESTS)] == chosen


@pytest.mark.parametrize(
    ("name", "message", "why"),
    [
        ("plaidml-0.6.5", "there is no manifest 'plaidml-0.6.5'", "did you mean 'plaidml-0.6.4'?"),
        ("torch-*", "there is no manifest 'torch-*'", "known: "),
        ("plaidml-0.6.4@py3.6", "plaidml-0.6.4 has no variant 'py3.6'", "did you mean 'py3.8'?"),
    ],
)
def test_an_unknown_name_is_told_with_the_nearest(name: str, message: str, why: str) -> None:
    with pytest.raises(UsageError) as caught:
        select([name], MANIFESTS)
    assert caught.value.what == message
    assert why in caught.value.why
    assert caught.value.hint.startswith("envmgr ")


@pytest.mark.parametrize(
    ("python", "minors"),
    [(">=3.7,<3.10", ("3.9", "3.8", "3.7")), ("==3.11.*", ("3.11",)), (">=3.8.5,<3.9", ("3.8",)), ("<3", ())],
)
def test_pythons_of_a_specifier(python: str, minors: tuple[str, ...]) -> None:
    assert pythons(python) == minors
