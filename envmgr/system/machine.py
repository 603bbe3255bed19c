from __future__ import annotations

import contextlib
import functools
import os
import re
import subprocess
import threading
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import psutil

from envmgr.model.conditions import Sight

_THROTTLE_COUNTS = "cpu*/thermal_throttle/core_throttle_count"
_CPUS = Path("/sys/devices/system/cpu")
_USER = 11
"""Where the ticks in user mode stand among the fields behind a program's name; those of the system are next."""
_LISTED_AGAIN_AFTER = 0.2
_SHARE_OF_LISTING = 0.005
"""How much of the time the listing of programs may take where it is slow."""
_SEEN_AGAIN_AFTER = 0.005
"""Seconds for which a sight holds: the system's counters tick at best every hundredth."""
_HEAD = 16384
"""Bytes in which all that is looked for in a file of the kernel's counters stands."""
_TICKS, _PAGE = (os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")) if psutil.LINUX else (1, 1)
_TOTAL, _AVAILABLE, _SWAP, _SWAPPED_IN, _SWAPPED_OUT = (
    re.compile(rb"^%b:? +(\d+)" % name, re.MULTILINE)
    for name in (b"MemTotal", b"MemAvailable", b"SwapTotal", b"pswpin", b"pswpout")
)
_IDLE = ("idle", "iowait", "guest", "guest_nice", "steal")


class RealMachine:
    """Looks at this machine; what it does not tell stays None."""

    def __init__(self) -> None:
        self._programs: Mapping[str, float] = {}
        self._frequency: float | None = None
        self._cores = 1
        self._listed = self._list_again_at = 0.0
        self._latest: Sight | None = None
        self._guard = threading.Lock()
        self._throttle_counts = tuple(_CPUS.glob(_THROTTLE_COUNTS))

    def look(self) -> Sight:
        """Return the counters and levels of this moment; takes a millisecond, and a few when programs are listed.

        They are listed again, and the frequency is read, only after a while: sights that follow closely have the same.
        One of a moment ago is given again: between short cells, what is seen after one is what is seen before the next.
        """
        with self._guard:
            if self._latest is not None and time.monotonic() - self._latest.at < _SEEN_AGAIN_AFTER:
                return self._latest
            if (begun := time.monotonic()) >= self._list_again_at:
                self._programs, self._frequency = _programs(), _frequency()
                self._cores = psutil.cpu_count() or 1
                self._listed = time.monotonic()
                cost = self._listed - begun
                self._list_again_at = self._listed + max(_LISTED_AGAIN_AFTER, cost / _SHARE_OF_LISTING)
            self._latest = self._sight()
            return self._latest

    def _sight(self) -> Sight:
        counted = _counters_of_linux() or _counters()
        # Nothing here is anybody's input, and programs are many: to check each again takes longer than to read all.
        return Sight.model_construct(
            at=time.monotonic(),
            cores=self._cores,
            busy=counted.busy,
            stolen=counted.stolen,
            load=os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
            memory=counted.memory,
            available=counted.available,
            moved=counted.moved,
            throttled=_throttled(self._throttle_counts),
            frequency=self._frequency,
            speed_limit=_speed_limit(),
            programs=dict(self._programs),
            listed=self._listed,
        )


class _Counters(NamedTuple):
    """Processor seconds of all cores since the start, and bytes."""

    busy: float
    stolen: float
    memory: int
    available: int
    moved: int


def _counters() -> _Counters:
    times, memory = psutil.cpu_times()._asdict(), psutil.virtual_memory()
    busy = sum(seconds for kind, seconds in times.items() if kind not in _IDLE)
    return _Counters(busy, times.get("steal", 0.0), memory.total, memory.available, _moved())


def _counters_of_linux() -> _Counters | None:
    """Read what psutil would read, and nothing else; None where the kernel does not have it all."""
    if psutil.LINUX:
        with contextlib.suppress(OSError, ValueError, TypeError):
            processors, memory = _head_of("/proc/stat"), _head_of("/proc/meminfo")
            paging = _head_of("/proc/vmstat") if _number(_SWAP, memory) else _paging_at_first()
            ticks = [int(field) for field in processors.partition(b"\n")[0].split()[1:9]]
            user, nice, system, _idle, _waiting, interrupts, soft_interrupts, stolen = ticks
            return _Counters(
                busy=(user + nice + system + interrupts + soft_interrupts) / _TICKS,
                stolen=stolen / _TICKS,
                memory=_number(_TOTAL, memory) * 1024,
                available=_number(_AVAILABLE, memory) * 1024,
                moved=(_number(_SWAPPED_IN, paging) + _number(_SWAPPED_OUT, paging)) * _PAGE,
            )
    return None


@functools.cache
def _paging_at_first() -> bytes:
    """Return what holds as long as there is nothing to swap to: it is slow to read."""
    return _head_of("/proc/vmstat")


def _head_of(path: str, folder: int | None = None) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC, dir_fd=folder)
    try:
        return os.read(descriptor, _HEAD)
    finally:
        os.close(descriptor)


def _number(pattern: re.Pattern[bytes], text: bytes) -> int:
    return int(pattern.search(text)[1])  # type: ignore[index]


def _programs() -> Mapping[str, float]:
    if psutil.LINUX:
        return _programs_of_linux()
    found = {}
    for process in psutil.process_iter(["name", "cpu_times"]):
        times = process.info["cpu_times"]
        if times is not None and process.pid != os.getpid():
            found[f"{process.pid} {process.info['name']}"] = times.user + times.system
    return found


def _programs_of_linux() -> Mapping[str, float]:
    """Read what psutil would read, once a process and nothing else: there may be thousands."""
    found = {}
    own = str(os.getpid())
    folder = os.open("/proc", os.O_RDONLY | os.O_CLOEXEC)
    try:
        for number in os.listdir(folder):  # noqa: PTH208 - a hot loop over strings
            if number.isdigit() and number != own:
                with contextlib.suppress(OSError):
                    head, _, tail = _head_of(f"{number}/stat", folder).rpartition(b")")
                    name = head.partition(b"(")[2].decode(errors="replace")
                    fields = tail.split(None, _USER + 2)
                    found[f"{number} {name}"] = (int(fields[_USER]) + int(fields[_USER + 1])) / _TICKS
    finally:
        os.close(folder)
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


def _throttled(files: Iterable[Path]) -> int | None:
    """Return how often cores were slowed down for their heat since the start (Linux, on processors that count it)."""
    counts = []
    for path in files:
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
