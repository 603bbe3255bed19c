"""From manifests to targets: variants, and the names by which a user selects them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from packaging.specifiers import SpecifierSet

from envmgr.errors import UsageError
from envmgr.manifest.faults import suggest
from envmgr.model.manifest import Manifest, Target
from envmgr.model.platform import Platform

DEFAULT = "default"
"""The variant of a manifest that has no variants."""

PYTHONS = tuple(f"3.{minor}" for minor in range(15, 5, -1))
"""The Python versions that a manifest can ask for, newest first."""


def variants(manifest: Manifest) -> tuple[str, ...]:
    """Return the manifest's variants, the default one first: `("py3.8", "py3.7")`, or `("default",)`."""
    if manifest.variants is None:
        return (DEFAULT,)
    return tuple(f"py{python}" for python in manifest.variants.python)


def target(manifest: Manifest, variant: str | None, platform: Platform) -> Target:
    """Return the manifest in one variant (None: its default one) on one platform."""
    known = variants(manifest)
    chosen = known[0] if variant is None else variant
    if chosen not in known:
        raise UsageError(
            f"{manifest.name} has no variant '{variant}'", f"it has: {', '.join(known)}", suggest(chosen, known)
        )
    python = manifest.python if chosen == DEFAULT else f"=={chosen.removeprefix('py')}.*"
    return Target(manifest=manifest, variant=chosen, python=python, platform=platform)


def pythons(python: str) -> tuple[str, ...]:
    """Return the minor versions of Python of which some release meets a PEP 440 specifier, newest first.

    >>> pythons(">=3.7,<3.10")
    ('3.9', '3.8', '3.7')
    """
    wanted = SpecifierSet(python)
    return tuple(minor for minor in PYTHONS if any(wanted.contains(f"{minor}.{patch}") for patch in range(60)))


def select(names: Sequence[str], manifests: Mapping[str, Manifest]) -> tuple[tuple[Manifest, str | None], ...]:
    """Return what names such as `plaidml-0.6.4@py3.8`, `keras-*` and `plaidml-0.6.4@*` select, each once, in order.

    The variant is None where the name says none: the manifest's default.
    """
    chosen: dict[tuple[str, str | None], tuple[Manifest, str | None]] = {}
    for name in names:
        for manifest, variant in _select_one(name, manifests):
            chosen.setdefault((manifest.name, variant), (manifest, variant))
    return tuple(chosen.values())


def _select_one(name: str, manifests: Mapping[str, Manifest]) -> list[tuple[Manifest, str | None]]:
    stem, at, variant = name.partition("@")
    found = [manifests[known] for known in sorted(manifests) if fnmatchcase(known, stem)]
    if not found:
        inner = stem.replace("\\", "/").rpartition("/")[2].removesuffix(".toml")
        if inner in manifests and inner != stem:
            raise UsageError(
                f"'{stem}' is a file, not a name", f"wanted the name of a manifest: {inner}", "envmgr list"
            )
        hint = str(getattr(manifests, "hint", "envmgr list"))
        raise UsageError(f"there is no manifest '{stem}'", suggest(stem, manifests), hint)
    if not at:
        return [(manifest, None) for manifest in found]
    pairs: list[tuple[Manifest, str | None]] = [
        (manifest, known) for manifest in found for known in variants(manifest) if fnmatchcase(known, variant)
    ]
    if not pairs:
        known = list(dict.fromkeys(each for manifest in found for each in variants(manifest)))
        hint = f"envmgr show {found[0].name}"
        raise UsageError(f"{stem} has no variant '{variant}'", suggest(variant, known), hint)
    return pairs
