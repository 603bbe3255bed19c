"""What makes an env the same env."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from packaging.utils import canonicalize_name

from envmgr.model.host import Interpreter
from envmgr.model.lock import Lock, LockedDistribution
from envmgr.model.manifest import Step
from envmgr.model.platform import Platform

RECIPE = 1
"""The version of how envmgr makes an env from its parts; a change makes every env a new one."""

_LENGTH = 32


def env_key(content: str, interpreter: Interpreter, platform: Platform, *, hash_checking: bool = True) -> str:
    """Return the digest that names the folder of an env.

    `content` is `lock_digest` of its lock or `steps_digest` of its history. Equal parts give equal keys on every host;
    a replaced interpreter, another hash or another way to install gives another key. Names of manifests do not enter.
    """
    return _digest(
        {
            "content": content,
            "hash checking": hash_checking,
            "interpreter": [
                interpreter.implementation,
                interpreter.version,
                interpreter.build,
                interpreter.arch,
                interpreter.abi_flags,
                interpreter.base_prefix,
                interpreter.identity,
            ],
            "platform": platform.value,
            "recipe": RECIPE,
        }
    )


def lock_digest(lock: Lock, build_requires: Mapping[str, Sequence[str]] | None = None) -> str:
    """Return the digest of what a lock installs: names, versions, hashes, markers, indexes and source builds.

    The order of distributions, the manifest's name and what only tells how the lock was made do not enter.
    """
    return _digest(
        {
            "distributions": _canonical(lock.distributions),
            "builds": _canonical(lock.builds),
            "build requires": {
                str(canonicalize_name(name)): sorted(needs) for name, needs in (build_requires or {}).items()
            },
        }
    )


def steps_digest(steps: Iterable[Step], exclude_newer: str | None = None) -> str:
    """Return the digest of an installation history; the order of its steps counts."""
    return _digest(
        {
            "steps": [[list(step.install), list(step.uninstall), list(step.flags), step.installer] for step in steps],
            "exclude newer": exclude_newer,
        }
    )


def _canonical(distributions: Iterable[LockedDistribution]) -> list[list[Any]]:
    return sorted(
        [
            str(canonicalize_name(each.name)),
            each.version,
            sorted(each.hashes),
            each.marker or "",
            each.index or "",
            each.source,
        ]
        for each in distributions
    )


def _digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:_LENGTH]
