"""What was resolved for one manifest, variant and platform: exact versions and hashes, no URL."""

from __future__ import annotations

from datetime import date
from typing import Literal

from pydantic import Field

from envmgr.model.noun import Noun
from envmgr.model.platform import Platform


class LockedDistribution(Noun):
    """One distribution at one version, admitted only as one of the artefacts that the hashes name.

    `hashes` are `sha256:<64 hex digits>`, sorted. `index` is the manifest's explicit index that serves it, None for
    the default one. `source` tells that it is built from a source distribution.
    """

    name: str
    version: str
    hashes: tuple[str, ...] = Field(min_length=1)
    marker: str | None = None
    index: str | None = None
    source: bool = False


class Lock(Noun):
    """Everything that an env of one target is installed from.

    `inputs` is the digest of what the resolution depended on in the manifest: a different one makes the lock stale.
    `python` is the minor version that it holds for. `minimum` is the oldest system assumed (`glibc 2.28`, `macos 11`).
    `builds` are the pinned build requirements of the distributions that are built from source. `download` is the size
    of all artefacts in bytes, where several fit the largest; 0 where the index does not tell.
    """

    schema_: Literal[1] = Field(default=1, alias="schema", serialization_alias="schema")
    manifest: str
    variant: str
    platform: Platform
    python: str
    inputs: str
    indexes: tuple[str, ...] = ()
    exclude_newer: date | None = None
    uv: str = ""
    minimum: str = ""
    download: int = 0
    distributions: tuple[LockedDistribution, ...]
    builds: tuple[LockedDistribution, ...] = ()
