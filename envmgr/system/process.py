from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from typing import IO

import psutil

from envmgr.ports import Completed, ProcessRequest
from envmgr.system.capture import Capture

_POSIX = os.name == "posix"
_INTERRUPTED = 130


class Child(subprocess.Popen[bytes]):
    """A started process that keeps what the system says of its memory (bytes) and time (s) when it has ended."""

    peak_memory: int | None = None
    processor_seconds: float | None = None


class RealProcess:
    """Runs processes of this machine to their end, each as the leader of a group that ends with it.

    `environment` is what a request without one gets: the caller's, as envmgr itself was given it.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = dict(environment)
        self._running: set[Child] = set()
        self._stopping = False
        self._guard = threading.Lock()

    def run(self, request: ProcessRequest) -> Completed:
        """Run one process; how it ended is a value, also when it could not be started or ran out of time."""
        environment = self._environment if request.env is None else dict(request.env)
        begun = time.monotonic()
        try:
            if request.shared_terminal:
                return self._run_in_terminal(request, environment, begun)
            process = self._start(request, environment)
        except OSError as error:
            text = f"{request.argv[0]}: {error.strerror or error}"
            return Completed(request.argv, None, started=False, stderr=text, elapsed=time.monotonic() - begun)
        capture = Capture(process, request.log, request.log_limit)
        try:
            with self._registered(process):
                _feed(process.stdin, request.stdin)
                timed_out = not _wait(process, request.timeout)
                if timed_out:
                    end_tree(process, request.grace)
        except BaseException:
            end_tree(process, 0.2)
            raise
        finally:
            _end_group(process)
            stdout, stderr = capture.finish()
        code, number = _split(process.returncode)
        elapsed = time.monotonic() - begun
        return Completed(
            argv=request.argv,
            exit_code=code,
            signal=number,
            timed_out=timed_out,
            stdout=stdout,
            stderr=stderr,
            elapsed=elapsed,
            peak_memory=process.peak_memory,
            processor_seconds=process.processor_seconds,
        )

    def stop_all(self) -> None:
        """End every process that is running now, and refuse new ones: the user wants to stop."""
        with self._guard:
            self._stopping = True
            running = tuple(self._running)
        for process in running:
            end_tree(process, 1.0)

    def _start(self, request: ProcessRequest, environment: dict[str, str]) -> Child:
        if self._stopping:
            raise InterruptedError(_INTERRUPTED, "not started: envmgr is being stopped")
        process = Child(
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
            _limit_memory(process.pid, request.memory_limit)
        return process

    def _run_in_terminal(self, request: ProcessRequest, environment: dict[str, str], begun: float) -> Completed:
        process = Child(request.argv, cwd=request.cwd, env=environment)
        with _deaf_to_interrupts():
            process.wait()
        code, number = _split(process.returncode)
        return Completed(request.argv, code, number, elapsed=time.monotonic() - begun)

    @contextlib.contextmanager
    def _registered(self, process: Child) -> Iterator[None]:
        with self._guard:
            self._running.add(process)
        try:
            yield
        finally:
            with self._guard:
                self._running.discard(process)


def end_tree(process: Child, grace: float) -> None:
    """End a process with all its descendants: politely, and after `grace` seconds by force."""
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


def _family(pid: int) -> list[psutil.Process]:
    try:
        head = psutil.Process(pid)
        return [*head.children(recursive=True), head]
    except psutil.Error:
        return []


def _end_group(process: Child) -> None:
    """End what the process left behind in its own group."""
    if _POSIX and process.pid != os.getpgrp():
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)


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


def _feed(stream: IO[bytes] | None, text: str | None) -> None:
    if stream is not None and text is not None:
        with contextlib.suppress(BrokenPipeError):
            stream.write(text.encode())
        stream.close()


def _split(returncode: int | None) -> tuple[int | None, int | None]:
    if returncode is not None and returncode < 0:
        return None, -returncode
    return returncode, None


@contextlib.contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Leave Ctrl-C to the process that has the terminal."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
