"""Writes a lock as text that a person can compare, and as the files that uv installs from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from envmgr.lock.form import BUILDS, HEAD, SCHEMA
from envmgr.model.lock import Lock, LockedDistribution


def render(lock: Lock) -> str:
    """Return the text of a lock: a head, one pin per distribution, build requirements as comments at the end.

    It is a requirements file, too: pip and uv read it as such. `envmgr.lock.parse.parse` gives the same lock back.
    """
    lines = [*_head(lock), ""]
    for distribution in lock.distributions:
        lines += _pin(distribution)
    if lock.builds:
        lines += ["", BUILDS]
        lines += [f"# {line}" for distribution in lock.builds for line in _pin(distribution)]
    return "\n".join(lines) + "\n"


def requirements(lock: Lock, index: str | None) -> str:
    """Return the requirements file, hashes included, of what one index serves (None: the default one)."""
    return _bare(distribution for distribution in lock.distributions if distribution.index == index)


def build_constraints(lock: Lock) -> str:
    """Return the build requirements as a constraints file with hashes, empty where nothing is built."""
    return _bare(lock.builds)


def _head(lock: Lock) -> Iterator[str]:
    values = {
        "envmgr-lock": str(SCHEMA),
        "manifest": lock.manifest,
        "variant": lock.variant,
        "platform": str(lock.platform),
        "python": lock.python,
        "inputs": lock.inputs,
        "indexes": ", ".join(lock.indexes),
        "exclude-newer": lock.exclude_newer.isoformat() if lock.exclude_newer else "",
        "minimum": lock.minimum,
        "download": str(lock.download or ""),
        "uv": lock.uv,
    }
    for key in HEAD:
        if values[key]:
            yield f"# {key}: {values[key]}"


def _pin(distribution: LockedDistribution) -> Iterator[str]:
    marker = f" ; {distribution.marker}" if distribution.marker else ""
    yield f"{distribution.name}=={distribution.version}{marker} \\"
    notes = [f"index {distribution.index}"] if distribution.index else []
    notes += ["source"] if distribution.source else []
    *others, last = distribution.hashes
    for each in others:
        yield f"    --hash={each} \\"
    yield f"    --hash={last}" + (f"  # {', '.join(notes)}" if notes else "")


def _bare(distributions: Iterable[LockedDistribution]) -> str:
    plain = (each.model_copy(update={"index": None, "source": False}) for each in distributions)
    return "".join(f"{line}\n" for each in plain for line in _pin(each))
