"""Processes under a keeper (see `keeper.py`): nothing that descends from them survives them."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import socket
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from envmgr.outside import ProcessRequest
from envmgr.system import keeper as keeper_script
from envmgr.system.end import End
from envmgr.system.keeper import BY_FORCE, GO, POLITELY

KEEPS = sys.platform == "linux" and hasattr(os, "pidfd_open")
"""Whether this system has what a keeper needs: subreapers, and descriptors that tell of a process's end."""

_SCRIPT = Path(keeper_script.__file__)
_LONGEST_END = 15.0
_LONGEST_ANSWER = 4096
_SERVED = 3
"""The descriptor at which the server finds its socket."""


class Output(Protocol):
    """What a process says: what to take it from when that is ready, and whether more may come."""

    @property
    def sources(self) -> tuple[int, ...]: ...
    def take(self, source: int) -> bool: ...


class Kept:
    """One process under a keeper, with the ends of its streams that are ours; it starts when it is told to go."""

    def __init__(self, keeper: socket.socket, pool: Keepers, streams: tuple[int | None, int, int | None]) -> None:
        self._keeper = keeper
        self._pool = pool
        self._end: End | None = None
        self._guard = threading.Lock()
        self._reading = threading.Lock()
        self._output: Output | None = None
        self.begun = time.monotonic()
        stdin, stdout, stderr = streams
        self.stdin = None if stdin is None else open(stdin, "wb")  # noqa: SIM115, PTH123 - whoever feeds it closes it
        self.stdout = open(stdout, "rb")  # noqa: SIM115, PTH123 - whoever reads it closes it
        self.stderr = None if stderr is None else open(stderr, "rb")  # noqa: SIM115, PTH123

    def go(self) -> None:
        """Give the word to start: all else is ready."""
        self.begun = time.monotonic()
        self._tell(GO)

    def attend(self, output: Output) -> None:
        """Have whoever waits take what the process says meanwhile."""
        self._output = output

    def wait(self, timeout: float | None) -> End | None:
        """Return how it ended, or None when the time runs out first; by then all its descendants have ended too."""
        deadline = None if timeout is None else time.monotonic() + timeout
        if not self._reading.acquire(timeout=-1 if timeout is None else max(0.0, timeout)):
            return None
        try:
            if self._end is None and self._has_ended(deadline):
                with self._guard:
                    self._end = self._read_end()
            return self._end
        finally:
            self._reading.release()

    def _has_ended(self, deadline: float | None) -> bool:
        """Wait for the keeper's word until a moment of the steady clock, and take what is said meanwhile."""
        word = self._keeper.fileno()
        waiter = select.poll()
        waiter.register(word, select.POLLIN)
        output = self._output
        for source in () if output is None else output.sources:
            waiter.register(source, select.POLLIN)
        while True:
            left = None if deadline is None else max(0.0, deadline - time.monotonic()) * 1000
            ready = {descriptor for descriptor, _ in waiter.poll(left)}
            for source in ready - {word}:
                if output is not None and not output.take(source):
                    waiter.unregister(source)
            if word in ready:
                return True
            if left == 0.0:
                return False

    def end(self, grace: float) -> End:
        """End it with all its descendants: politely, and after `grace` seconds by force."""
        self._tell(POLITELY)
        ended = self.wait(grace)
        if ended is None:
            self._tell(BY_FORCE)
            ended = self.wait(_LONGEST_END)
        return ended or End(lost=True)

    def close(self) -> None:
        """Let the keeper take other work; one that is still at this takes it as the wish to end it by force."""
        with self._guard:
            if self._end is not None and not self._end.lost:
                self._pool.take_back(self._keeper)
            else:
                self._keeper.close()

    def _tell(self, word: bytes) -> None:
        with self._guard, contextlib.suppress(OSError):
            if self._end is None:
                self._keeper.send(word)

    def _read_end(self) -> End:
        try:
            facts: dict[str, Any] = json.loads(self._keeper.recv(_LONGEST_ANSWER))
        except (OSError, ValueError):
            return End(lost=True)
        return End(
            code=facts.get("code"),
            elapsed=facts.get("elapsed"),
            peak_memory=facts.get("peak"),
            processor_seconds=facts.get("busy"),
            over_memory=facts.get("over", False),
            error=facts.get("error", ""),
        )


class Keepers:
    """The keepers that are idle, and the server that forks more: it ends with envmgr, however that ends."""

    def __init__(self) -> None:
        self._server: socket.socket | None = None
        self._server_pid = 0
        self._idle: list[socket.socket] = []
        self._guard = threading.Lock()

    def prepare(self, request: ProcessRequest, environment: Mapping[str, str]) -> Kept:
        """Have a keeper make all ready for a process; raises OSError when that is impossible before it is asked."""
        program = _program(request, environment)
        with contextlib.ExitStack() as closing:
            order = _order(request, environment, program)
            closing.callback(os.close, order)
            stdin, own_stdin = _nothing() if request.stdin is None else os.pipe()
            own_stdout, stdout = os.pipe()
            own_stderr, stderr = (None, stdout) if request.log else os.pipe()
            for descriptor in {stdin, stdout, stderr}:
                closing.callback(os.close, descriptor)
            keeper = self._send([order, stdin, stdout, stderr])
        return Kept(keeper, self, (own_stdin, own_stdout, own_stderr))

    def warm_up(self) -> None:
        """Have a keeper ready for the first process that wants one: it starts while other things are done."""
        with self._guard:
            if not self._idle:
                self._idle.append(self._new())

    def dismiss(self) -> None:
        """Let the server and the idle keepers end, and wait for it: no child is left."""
        with self._guard:
            for keeper in self._idle:
                keeper.close()
            self._idle.clear()
            if self._server is not None:
                self._server.close()
                self._server = None
                os.waitpid(self._server_pid, 0)

    def take_back(self, keeper: socket.socket) -> None:
        """Keep a keeper whose process has ended for the next one."""
        with self._guard:
            self._idle.append(keeper)

    def _send(self, descriptors: list[int]) -> socket.socket:
        while True:
            with self._guard:
                keeper, fresh = (self._idle.pop(), False) if self._idle else (self._new(), True)
            try:
                socket.send_fds(keeper, [b"o"], descriptors)
            except OSError:  # it was killed while it was idle
                keeper.close()
                if fresh:
                    raise
            else:
                return keeper

    def _new(self) -> socket.socket:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            if self._server is not None:
                try:
                    socket.send_fds(self._server, [b"k"], [theirs.fileno()])
                except OSError:
                    self._server.close()
                    os.waitpid(self._server_pid, 0)
                else:
                    return ours
            self._server, self._server_pid = _start_server()
            socket.send_fds(self._server, [b"k"], [theirs.fileno()])
        return ours


def _start_server() -> tuple[socket.socket, int]:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        pid = os.posix_spawn(
            sys.executable,
            (sys.executable, "-I", "-S", str(_SCRIPT), str(_SERVED)),
            {},
            file_actions=[
                (os.POSIX_SPAWN_DUP2, theirs.fileno(), _SERVED),
                *((os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)),
            ],
            setsid=True,
        )
    return ours, pid


def _nothing() -> tuple[int, None]:
    return os.open(os.devnull, os.O_RDONLY), None


def _program(request: ProcessRequest, environment: Mapping[str, str]) -> str:
    """Return the path of the program, which a bare name is looked up for in the process's own PATH."""
    name = request.argv[0]
    if "/" in name:
        return name
    found = shutil.which(name, path=environment.get("PATH", os.defpath))
    if found is None:
        raise FileNotFoundError(2, "No such file or directory")
    return found


def _order(request: ProcessRequest, environment: Mapping[str, str], program: str) -> int:
    """Write what a keeper is to do into memory and return its descriptor: an environment belongs in no file."""
    order = {
        "program": program,
        "argv": list(request.argv),
        "env": dict(environment),
        "cwd": None if request.cwd is None else str(request.cwd),
        "memory": request.memory_limit,
        "writable": None if request.writable is None else [str(path) for path in request.writable],
    }
    descriptor = os.memfd_create("envmgr-order", os.MFD_CLOEXEC)
    os.write(descriptor, json.dumps(order).encode())
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
