"""How much of what is being fetched is here: a bar, and the time left, from what the network has brought meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Mapping

_WIDTH = 12
_MIB = 1 << 20
_MINUTES_FROM = 100.0
_FIRST_SECONDS = 1.0
"""Before, there is no pace that tells anything."""


def received() -> int:
    """Return the bytes that have come over all networks of this machine since its start."""
    import psutil

    return int(getattr(psutil.net_io_counters(), "bytes_recv", 0))  # there is nothing where there is no network at all


class Bar:
    """The downloads of all that is being installed: installers tell of one when it has ended, the network meanwhile."""

    def __init__(self, clock: Callable[[], float], received: Callable[[], int] = received) -> None:
        self._clock = clock
        self._received = received
        self._loads: dict[str, tuple[int, int]] = {}
        self._since = (0.0, 0)

    def note(self, subject: str, facts: Mapping[str, str]) -> None:
        """Take note of the bytes that an install has already and of all that it fetches; without facts, of none."""
        if not facts.get("whole"):
            self._loads.pop(subject, None)
            return
        if not self._loads:
            self._since = (self._clock(), self._received())
        self._loads[subject] = (int(facts["done"]), int(facts["whole"]))

    def shown(self) -> str:
        """Return the bar and the time left, empty while nothing is on its way."""
        whole = sum(whole for _, whole in self._loads.values())
        if not whole:
            return ""
        began, before = self._since
        elapsed, come = self._clock() - began, self._received() - before
        ended = sum(done for done, _ in self._loads.values())
        here = min(max(ended, come), whole)
        share = int(_WIDTH * here / whole)
        pace = here / elapsed if elapsed >= _FIRST_SECONDS else 0
        left = f", about {_told((whole - here) / pace)} left" if pace and here < whole else ""
        return f"[{'#' * share}{'-' * (_WIDTH - share)}] {here / _MIB:.0f} of {whole / _MIB:.0f} MiB{left}"


def _told(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= _MINUTES_FROM else f"{seconds:.0f} s"
