"""What a resolution depends on in a manifest, and whether a lock still holds."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from envmgr.model.lock import Lock
from envmgr.model.manifest import Index, Manifest, Target


def digest(target: Target) -> str:
    """Return a sha256 over all that a resolution depends on, whatever its order and spelling in the manifest."""
    manifest = target.manifest
    inputs = {
        "python": _specifier(target.python),
        "platform": str(target.platform),
        "requirements": _canonical(manifest.requirements),
        "exclude-newer": manifest.exclude_newer.isoformat() if manifest.exclude_newer else None,
        "allow-source": sorted(each if each == "*" else canonicalize_name(each) for each in manifest.allow_source),
        "build-constraints": _canonical(manifest.build_constraints),
        "overrides": _canonical(manifest.overrides),
        "build-requires": {
            canonicalize_name(name): _canonical(texts) for name, texts in manifest.build_requires.items()
        },
        "indexes": {
            index.name: [index.url, sorted(map(canonicalize_name, index.packages))] for index in indexes(target)
        },
    }
    canonical = json.dumps(inputs, sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(canonical.encode()).hexdigest()}"


def indexes(target: Target) -> tuple[Index, ...]:
    """Return the explicit indexes that serve the target's platform."""
    return tuple(index for index in target.manifest.index if target.platform in index.platforms)


def served(target: Target) -> dict[str, str]:
    """Return the canonical names of what explicit indexes serve on the target's platform, and by which."""
    return {canonicalize_name(package): index.name for index in indexes(target) for package in index.packages}


def staleness(lock: Lock, target: Target) -> str:
    """Return what has changed since the lock was made, naming the manifest; nothing where it still holds."""
    changes = list(_changes(lock, target))
    if not changes and lock.inputs != digest(target):
        changes = ["something that it was resolved from has changed"]
    return f"{target.manifest.name}: {'; '.join(changes)}" if changes else ""


def _changes(lock: Lock, target: Target) -> Iterator[str]:
    manifest = target.manifest
    labels = (
        ("manifest", manifest.name, lock.manifest),
        ("variant", target.variant, lock.variant),
        ("platform", str(target.platform), str(lock.platform)),
    )
    for key, wanted, found in labels:
        if wanted != found:
            yield f"the lock is for the {key} {found}, wanted {wanted}"
    if lock.inputs == digest(target):
        return
    yield from _unmet(lock, manifest)
    if lock.exclude_newer != manifest.exclude_newer:
        dates = [str(day) if day else "no date" for day in (manifest.exclude_newer, lock.exclude_newer)]
        yield f"exclude-newer is {dates[0]}, locked was {dates[1]}"
    names = tuple(index.name for index in indexes(target))
    if lock.indexes != names:
        wanted, locked = (", ".join(each) or "the default one" for each in (names, lock.indexes))
        yield f"the indexes are {wanted}, locked were {locked}"
    if not any(SpecifierSet(target.python).contains(f"{lock.python}.{patch}") for patch in range(60)):
        yield f"it wants Python {target.python}, locked was {lock.python}"


def _unmet(lock: Lock, manifest: Manifest) -> Iterator[str]:
    """Tell which requirements the lock visibly does not meet."""
    locked = {distribution.name: distribution.version for distribution in lock.distributions}
    for text in manifest.requirements:
        requirement = Requirement(text)
        version = locked.get(canonicalize_name(requirement.name))
        if version is None and requirement.marker is None:
            yield f"it wants {requirement.name}, which the lock lacks"
        elif version is not None and not requirement.specifier.contains(version, prereleases=True):
            yield f"it wants {text}, locked was {version}"


def _canonical(texts: Iterable[str]) -> list[str]:
    return sorted(_requirement(text) for text in texts)


def _requirement(text: str) -> str:
    requirement = Requirement(text)
    extras = ",".join(sorted(canonicalize_name(extra) for extra in requirement.extras))
    marker = f";{requirement.marker}" if requirement.marker else ""
    return f"{canonicalize_name(requirement.name)}[{extras}]{_specifier(str(requirement.specifier))}{marker}"


def _specifier(text: str) -> str:
    return ",".join(sorted(str(each) for each in SpecifierSet(text)))
