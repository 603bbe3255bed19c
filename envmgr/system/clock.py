from __future__ import annotations

import time
from datetime import UTC, datetime


class RealClock:
    """Tells this machine's time, in UTC."""

    def now(self) -> datetime:
        """Return the current moment."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Return seconds on a clock that never goes back."""
        return time.monotonic()
