"""Processes that lead a group of their own, which ends with them: for systems without keepers."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from typing import Any

from envmgr.outside import ProcessRequest
from envmgr.system.end import End

_POSIX = os.name == "posix"


class Child(subprocess.Popen[bytes]):
    """A started process that keeps what the system says of its memory (bytes) and time (s) when it has ended."""

    peak_memory: int | None = None
    processor_seconds: float | None = None


class Grouped:
    """One process whose group and known descendants end with it; what leaves both unseen survives (best effort)."""

    def __init__(self, request: ProcessRequest, environment: Mapping[str, str]) -> None:
        self.begun = time.monotonic()
        self._process = Child(
            request.argv,
            cwd=request.cwd,
            env=environment,
            stdin=subprocess.DEVNULL if request.stdin is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if request.log else subprocess.PIPE,
            start_new_session=_POSIX,
            creationflags=0 if _POSIX else subprocess.CREATE_NEW_PROCESS_GROUP,  # type: ignore[attr-defined,unused-ignore]
        )
        if request.memory_limit is not None:
            _limit_memory(self._process.pid, request.memory_limit)
        self.stdin, self.stdout, self.stderr = self._process.stdin, self._process.stdout, self._process.stderr

    def wait(self, timeout: float | None) -> End | None:
        """Return how it ended, or None when the time runs out first."""
        return self._ended() if _wait(self._process, timeout) else None

    def end(self, grace: float) -> End:
        """End it with all its descendants: politely, and after `grace` seconds by force."""
        _end_tree(self._process, grace)
        return self._ended()

    def close(self) -> None:
        """End what the process left behind in its own group."""
        if _POSIX and self._process.pid != os.getpgrp():
            with contextlib.suppress(OSError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def _ended(self) -> End:
        process = self._process
        return End(
            code=process.returncode, peak_memory=process.peak_memory, processor_seconds=process.processor_seconds
        )


def _end_tree(process: Child, grace: float) -> None:
    """End a process with all its descendants: politely, and after `grace` seconds by force."""
    import psutil  # noqa: PLC0415 - most processes end by themselves

    members = _family(process.pid)
    for member in members:
        with contextlib.suppress(psutil.Error):
            member.terminate()
    _, alive = psutil.wait_procs([member for member in members if member.pid != process.pid], timeout=0)
    if not _wait(process, grace):
        with contextlib.suppress(OSError):
            process.kill()
    _wait(process, None)
    _, alive = psutil.wait_procs(alive, timeout=min(grace, 0.5))
    for member in alive:
        with contextlib.suppress(psutil.Error):
            member.kill()


def _family(pid: int) -> list[Any]:
    import psutil  # noqa: PLC0415 - as above

    try:
        head = psutil.Process(pid)
        return [*head.children(recursive=True), head]
    except psutil.Error:
        return []


def _wait(process: Child, timeout: float | None) -> bool:
    """Wait for the end and keep the resource usage; False when the time runs out first."""
    if process.returncode is not None:
        return True
    if not hasattr(os, "wait4"):
        return _wait_without_usage(process, timeout)
    if timeout is None:
        return _reap(process, 0)
    if hasattr(os, "pidfd_open"):
        return _wait_on_descriptor(process, timeout)
    return _wait_by_asking(process, timeout)


def _wait_without_usage(process: Child, timeout: float | None) -> bool:
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout)
    return process.returncode is not None


def _wait_by_asking(process: Child, timeout: float) -> bool:
    deadline, pause = time.monotonic() + timeout, 0.001
    while not _reap(process, os.WNOHANG):
        if time.monotonic() >= deadline:
            return False
        time.sleep(pause)
        pause = min(pause * 1.5, 0.05)
    return True


def _wait_on_descriptor(process: Child, timeout: float) -> bool:
    """Sleep until the process ends instead of asking again and again, which costs time in short cells."""
    import select  # noqa: PLC0415 - absent on some systems

    try:
        descriptor = os.pidfd_open(process.pid)
    except OSError:
        return _reap(process, 0)
    try:
        waiter = select.poll()
        waiter.register(descriptor, select.POLLIN)
        if not waiter.poll(max(0.0, timeout) * 1000):
            return False
    finally:
        os.close(descriptor)
    return _reap(process, 0)


def _reap(process: Child, options: int) -> bool:
    try:
        pid, status, usage = os.wait4(process.pid, options)
    except ChildProcessError:
        process.returncode = 0 if process.returncode is None else process.returncode
        return True
    if pid == 0:
        return False
    process.returncode = os.waitstatus_to_exitcode(status)
    unit = 1 if sys.platform == "darwin" else 1024
    process.peak_memory = usage.ru_maxrss * unit
    process.processor_seconds = usage.ru_utime + usage.ru_stime
    return True


def _limit_memory(pid: int, limit: int) -> None:
    """Bound the data of a process where the system can do so from outside (Linux); elsewhere there is no bound."""
    if sys.platform == "linux":
        import resource  # noqa: PLC0415 - absent on Windows

        with contextlib.suppress(OSError):
            resource.prlimit(pid, resource.RLIMIT_DATA, (limit, limit))
