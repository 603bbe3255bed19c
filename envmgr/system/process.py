from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from types import FrameType
from typing import IO

from envmgr.outside import Completed, ProcessRequest
from envmgr.system.capture import Capture
from envmgr.system.grouped import Grouped
from envmgr.system.kept import KEEPS, Keepers, Kept

_SHORT_GRACE = 0.2
_KEEPERS = Keepers()


class RealProcess:
    """Runs processes of this machine to their end, each as the leader of a group that ends with it.

    `environment` is what a request without one gets: the caller's, as envmgr itself was given it.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = dict(environment)
        self._running: set[Kept | Grouped] = set()
        self._stopping = False
        self._guard = threading.Lock()
        self._parts: list[RealProcess] = []

    def apart(self) -> RealProcess:
        """Return what runs processes alike and stops its own alone; it is stopped with this one."""
        part = self._alike()
        with self._guard:
            self._parts.append(part)
            stopping = self._stopping
        if stopping:
            part.stop_all()
        return part

    def _alike(self) -> RealProcess:
        return RealProcess(self._environment)

    def run(self, request: ProcessRequest) -> Completed:
        """Run one process; how it ended is a value, also when it could not be started or ran out of time.

        On Linux its descendants end with it, whatever they do; elsewhere those of its process group, as far as seen.
        Raises KeyboardInterrupt once `stop_all` was called: how a process ended then tells nothing of it.
        """
        if self._stopping:
            raise KeyboardInterrupt
        environment = self._environment if request.env is None else dict(request.env)
        if KEEPS and request.kept and not request.shared_terminal:
            return self._run_kept(request, environment)
        if request.shared_terminal:
            return self._run_in_terminal(request, environment)
        return self._run_grouped(request, environment)

    def become(self, request: ProcessRequest) -> Completed:
        """Let this process become another one, with its terminal, its signals and whoever waits for it.

        Returns only how that could not be started; where systems have no such thing, how it ended.
        """
        if os.name != "posix":
            return self.run(request)
        begun = time.monotonic()
        _KEEPERS.dismiss()
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and what is ignored stays so
            signal.signal(number, signal.SIG_DFL)
        sys.stdout.flush()
        sys.stderr.flush()
        try:
            os.chdir(request.cwd or ".")
            os.execvpe(request.argv[0], request.argv, self._environment if request.env is None else dict(request.env))  # noqa: S606 - that is what was asked for
        except OSError as error:
            return _not_started(request, error, begun)

    def _run_kept(self, request: ProcessRequest, environment: dict[str, str]) -> Completed:
        begun = time.monotonic()
        try:
            process = _KEEPERS.prepare(request, environment)
        except OSError as error:
            return _not_started(request, error, begun)
        return self._see_to_end(process, request, request.turn(process.go))

    def _run_grouped(self, request: ProcessRequest, environment: dict[str, str]) -> Completed:
        begun = time.monotonic()
        started: list[Grouped | OSError] = []

        def start() -> None:
            try:
                started.append(Grouped(request, environment))
            except OSError as error:
                started.append(error)

        with request.turn(start):
            process = started[0]
            if isinstance(process, OSError):
                return _not_started(request, process, begun)
            return self._see_to_end(process, request, contextlib.nullcontext())

    def _see_to_end(
        self, process: Kept | Grouped, request: ProcessRequest, going: contextlib.AbstractContextManager[None]
    ) -> Completed:
        """See a process to its end, which goes on within a context that starts it if that is not done yet."""
        with contextlib.closing(process), self._registered(process):
            capture = _capture(process, request)
            try:
                with going:
                    _feed(process.stdin, request.stdin)
                    ended = process.wait(request.timeout)
                    timed_out = ended is None
                    if ended is None:
                        ended = process.end(request.grace)
            except BaseException:
                process.end(_SHORT_GRACE)
                with contextlib.suppress(OSError):
                    capture.finish()
                raise
        stdout, stderr = capture.finish()
        if self._stopping:
            raise KeyboardInterrupt
        if ended.error:
            return Completed(request.argv, None, started=False, stderr=f"{request.argv[0]}: {ended.error}")
        code, number = _split(-signal.SIGKILL if ended.lost else ended.code)
        return Completed(
            argv=request.argv,
            exit_code=code,
            signal=number,
            timed_out=timed_out,
            stdout=stdout,
            stderr=stderr,
            elapsed=time.monotonic() - process.begun if ended.elapsed is None else ended.elapsed,
            peak_memory=ended.peak_memory,
            processor_seconds=ended.processor_seconds,
            over_memory=ended.over_memory,
        )

    @property
    def keeps(self) -> bool:
        """Whether nothing that descends from a process can outlive it here."""
        return KEEPS

    def warm_up(self) -> None:
        """Begin what the first process to come would have to wait for."""
        if KEEPS:
            with contextlib.suppress(OSError):
                _KEEPERS.warm_up()

    def stop_all(self) -> None:
        """End every process that is running now, and refuse new ones: the user wants to stop."""
        with self._guard:
            self._stopping = True
            running, parts = tuple(self._running), tuple(self._parts)
        for process in running:
            process.end(1.0)
        for part in parts:
            part.stop_all()

    def _run_in_terminal(self, request: ProcessRequest, environment: dict[str, str]) -> Completed:
        begun = time.monotonic()
        stdout = sys.stderr.fileno() if request.talk_only else None
        try:
            process = subprocess.Popen(request.argv, cwd=request.cwd, env=environment, stdout=stdout)
        except OSError as error:
            return _not_started(request, error, begun)
        with _signals_left_to(process):
            process.wait()
        code, number = _split(process.returncode)
        return Completed(request.argv, code, number, elapsed=time.monotonic() - begun)

    @contextlib.contextmanager
    def _registered(self, process: Kept | Grouped) -> Iterator[None]:
        with self._guard:
            self._running.add(process)
            stopping = self._stopping
        try:
            if stopping:  # it was started just before, and not seen by who stopped all
                process.end(_SHORT_GRACE)
                raise KeyboardInterrupt
            yield
        finally:
            with self._guard:
                self._running.discard(process)


def _capture(process: Kept | Grouped, request: ProcessRequest) -> Capture:
    """Read what a process says: while its end is awaited, unless something else could hold that up."""
    streams = (process.stdout, process.stderr)
    attended = isinstance(process, Kept) and request.hear is None and request.stdin is None
    capture = Capture(streams, request.log, request.log_limit, request.hear, attended=attended)
    if isinstance(process, Kept) and attended:
        process.attend(capture)
    return capture


def _not_started(request: ProcessRequest, error: OSError, begun: float) -> Completed:
    text = f"{request.argv[0]}: {error.strerror or error}"
    return Completed(request.argv, None, started=False, stderr=text, elapsed=time.monotonic() - begun)


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
def _signals_left_to(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Leave Ctrl-C to the process that has the terminal, and pass on to it what else asks this one to end."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def pass_on(number: int, _frame: FrameType | None) -> None:
        with contextlib.suppress(OSError):
            process.send_signal(number)

    asking = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    heard = [number for number in asking if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, pass_on) for number in heard}
    before[signal.SIGINT] = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
