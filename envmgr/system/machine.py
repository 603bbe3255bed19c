from __future__ import annotations

import contextlib
import os
import re
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

import psutil

from envmgr.model.conditions import Sight

_THROTTLE_COUNTS = "cpu*/thermal_throttle/core_throttle_count"
_CPUS = Path("/sys/devices/system/cpu")
_IDLE = ("idle", "iowait", "guest", "guest_nice", "steal")


class RealMachine:
    """Looks at this machine; what it does not tell stays None."""

    def look(self) -> Sight:
        """Return the counters and levels of this moment; takes some milliseconds."""
        times = psutil.cpu_times()._asdict()
        memory = psutil.virtual_memory()
        frequency = _frequency()
        return Sight(
            at=time.monotonic(),
            cores=psutil.cpu_count() or 1,
            busy=sum(seconds for kind, seconds in times.items() if kind not in _IDLE),
            stolen=times.get("steal", 0.0),
            load=os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
            memory=memory.total,
            available=memory.available,
            moved=_moved(),
            throttled=_throttled(),
            frequency=frequency,
            speed_limit=_speed_limit(),
            programs=_programs(),
        )


def _programs() -> Mapping[str, float]:
    found = {}
    for process in psutil.process_iter(["name", "cpu_times"]):
        times = process.info["cpu_times"]
        if times is not None and process.pid != os.getpid():
            found[f"{process.pid} {process.info['name']}"] = times.user + times.system
    return found


def _moved() -> int:
    with contextlib.suppress(OSError, RuntimeError):
        swap = psutil.swap_memory()
        return int(swap.sin + swap.sout)
    return 0


def _frequency() -> float | None:
    with contextlib.suppress(OSError, NotImplementedError, AttributeError, RuntimeError):
        found = psutil.cpu_freq()
        return round(found.current, 1) if found.current else None
    return None


def _throttled() -> int | None:
    """Return how often cores were slowed down for their heat since the start (Linux, on processors that count it)."""
    counts = []
    for path in _CPUS.glob(_THROTTLE_COUNTS):
        with contextlib.suppress(OSError, ValueError):
            counts.append(int(path.read_text(encoding="ascii")))
    return sum(counts) if counts else None


def _speed_limit() -> float | None:
    """Return to how many per cent of its speed macOS has bound the processor."""
    if not psutil.MACOS:
        return None
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        told = subprocess.run(
            ["/usr/bin/pmset", "-g", "therm"], capture_output=True, text=True, timeout=5, check=False
        ).stdout
        found = re.search(r"CPU_Speed_Limit\s*=\s*(\d+)", told)
        return float(found.group(1)) if found else None
    return None
