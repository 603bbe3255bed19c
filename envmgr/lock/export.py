"""Writes a lock in the forms that other tools read."""

from __future__ import annotations

from collections.abc import Mapping

import yaml

from envmgr.lock.render import requirements
from envmgr.model.lock import Lock


def as_requirements(lock: Lock, indexes: Mapping[str, str]) -> str:
    """Return a requirements file with hashes for pip and uv; `indexes` has the addresses of explicit indexes by name.

    pip knows no explicit index: it may take from any of them what the hashes admit.
    """
    head = [f"# {lock.manifest} {lock.variant} on {lock.platform}, Python {lock.python}; exported by envmgr"]
    head += [f"--extra-index-url {indexes[name]}" for name in lock.indexes]
    return "\n".join(head) + "\n" + "".join(requirements(lock, name) for name in (None, *lock.indexes))


def as_environment(name: str, python: str, pins: Mapping[str, str]) -> str:
    """Return conda's environment.yml: Python from conda, every distribution at its version through pip."""
    data = {
        "name": name,
        "channels": ["conda-forge"],
        "dependencies": [f"python={python}", "pip", {"pip": [f"{each}=={pins[each]}" for each in sorted(pins)]}],
    }
    return yaml.safe_dump(data, sort_keys=False, allow_unicode=True)


def as_freeze(pins: Mapping[str, str]) -> str:
    """Return versions as `pip freeze` prints them: what was found in an environment, without hashes."""
    return "".join(f"{name}=={pins[name]}\n" for name in sorted(pins))
