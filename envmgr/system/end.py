"""How a process ended."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class End:
    """How a kept process ended; `error` tells why it could not be started, `lost` that its keeper was killed."""

    code: int | None = None
    elapsed: float | None = None
    peak_memory: int | None = None
    processor_seconds: float | None = None
    over_memory: bool = False
    error: str = ""
    lost: bool = False
