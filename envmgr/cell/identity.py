"""Which cells are the same, and which must give the same numbers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from envmgr.model.cell import Cell


def digest_of(value: object, length: int) -> str:
    """Return the first hex digits of a digest of plain data; the order of keys does not matter."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:length]


def identity_of(cell: Cell) -> str:
    """Return the id of a cell: a short digest of what is measured, where, and on which device.

    Limits, expectations and verdicts do not enter it.
    """
    parts = (cell.manifest, cell.variant, cell.platform, cell.runner, cell.device_name, cell.parameters, cell.host)
    return digest_of(parts, 10)


def group_of(runner: str, parameters: Mapping[str, Any], neutral: frozenset[str]) -> str:
    """Return the group of cells whose outputs must agree: runner and parameters, without the neutral ones."""
    telling = {name: value for name, value in parameters.items() if name not in neutral}
    return f"{runner}-{digest_of(telling, 8)}"


def same_device(one: str, other: str) -> bool:
    """Tell whether two ids mean one device: libraries write `cuda`, `gpu:0` and `/device:GPU:0` for the same.

    >>> same_device("CPU:0", "cpu"), same_device("cuda:1", "gpu:0"), same_device("llvm_cpu.0", "llvm_cpu.0")
    (True, False, True)
    """
    return _plain(one) == _plain(other)


def _plain(name: str) -> str:
    name = name.lower().replace("/physical_device:", "").replace("/device:", "").replace("cuda", "gpu")
    return name if ":" in name or "." in name else f"{name}:0"
