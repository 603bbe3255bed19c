"""Starts processes and ends everything that descends from them: a script of its own, for Linux alone.

`envmgr.system.kept` starts it once, as `keeper.py SOCKET`, and sends it a socket for each keeper that it wants; this
server forks them. Over its socket a keeper takes one order after the other: the file descriptors of the order (JSON)
and of the process's standard streams; it makes all ready, and starts the process at the word. It is a subreaper:
whatever a descendant abandons becomes its child, so nothing leaves it, by double forks and new sessions neither. It
ends what is left when the process has ended, when the socket says so, and when the socket closes because envmgr was
killed.

Only the standard library is imported, and no more of it than is needed: a fork copies what is loaded.
"""

from __future__ import annotations

import _thread
import ctypes
import errno
import json
import os
import select
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

with suppress(ImportError):  # Windows has none: no keeper runs there, but this module is imported all the same
    import resource

GO = b"g"
POLITELY = b"p"
BY_FORCE = b"f"
_SUBREAPER = 36
_DESCRIPTORS = 4
_LOOK_AT_MEMORY = 0.25
_LAST_GRACE = 0.1
_NO_NEW_PRIVILEGES = 38
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
_WRITING = (1, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14)
"""Landlock's rights to write, remove, make, move between folders (13) and truncate (14)."""
_SINCE = {13: 2, 14: 3}
_WHOLE = 3
"""Landlock's version in which it knows all of these: before, any file can be emptied."""
_SINCE_OF_SIGNALS = 6
_SCOPE_OF_SIGNALS = 2
_LONGEST_END = 10.0


def serve(wishes: socket.socket) -> None:
    """Fork a keeper for each socket that comes until the other end closes; end what a killed keeper has left."""
    os.chdir("/")
    _become_subreaper()
    wake_up, wake_up_end = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    signal.set_wakeup_fd(wake_up_end, warn_on_full_buffer=False)
    keepers: set[int] = set()
    waiter = select.poll()
    waiter.register(wishes, select.POLLIN)
    waiter.register(wake_up, select.POLLIN)
    while True:
        ready = {descriptor for descriptor, _ in waiter.poll()}
        if wake_up in ready:
            with suppress(BlockingIOError):
                os.read(wake_up, 4096)
            _bury(keepers)
        if wishes.fileno() in ready:
            message, descriptors, _, _ = socket.recv_fds(wishes, 16, 1, socket.MSG_CMSG_CLOEXEC)
            if not message:
                return
            keepers.add(_fork(socket.socket(fileno=descriptors[0]), wishes))


def _fork(orders: socket.socket, wishes: socket.socket) -> int:
    pid = os.fork()
    if pid:
        orders.close()
        return pid
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        wishes.close()
        _become_subreaper()
        _take_orders(orders)
        code = 0
    finally:
        os._exit(code)


def _become_subreaper() -> None:
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)


def _bury(keepers: set[int]) -> None:
    """Reap ended keepers; when one was killed, what it kept are now children of this server, and are ended."""
    killed = False
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            break
        if not pid:
            break
        killed |= pid in keepers and os.WIFSIGNALED(status)
        keepers.discard(pid)
    while killed:
        strays = [pid for pid, parent in _parents().items() if parent == os.getpid() and pid not in keepers]
        for pid in strays:
            _kill(pid, signal.SIGKILL)
        for pid in strays:
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)
        killed = bool(strays)


def _take_orders(orders: socket.socket) -> None:
    while True:
        message, descriptors, _, _ = socket.recv_fds(orders, 16, _DESCRIPTORS, socket.MSG_CMSG_CLOEXEC)
        if not message:
            return
        if descriptors:  # a wish without any came too late: its process had ended
            _say(orders, _keep(descriptors, orders))


def _keep(descriptors: list[int], control: socket.socket) -> dict[str, object]:
    """Start the process that an order asks for, see it to its end, and return how it ended."""
    order_file, *streams = descriptors
    with open(order_file, "rb") as file:  # noqa: PTH123 - a descriptor has no path
        order = json.load(file)
    try:
        head, begun = _start(order, streams, control)
    except OSError as error:
        return {"error": error.strerror or str(error)}
    finally:
        os.chdir("/")
        for stream in streams:
            os.close(stream)
    status, over = _see_to_end(head, control, order["memory"])
    elapsed = time.monotonic() - begun
    _end_all(0.0 if over else _LAST_GRACE)
    return {"elapsed": elapsed, "over": over, **status}


def _start(order: dict[str, Any], streams: list[int], control: socket.socket) -> tuple[int, float]:
    """Start the process when the word comes, and return its number and the time of the word."""
    if order["cwd"] is not None:
        os.chdir(order["cwd"])
    limits = {resource.RLIMIT_CORE: 0}
    if order["memory"] is not None:
        limits[resource.RLIMIT_DATA] = order["memory"]
    before = {kind: resource.getrlimit(kind) for kind in limits}
    for kind, limit in limits.items():
        resource.setrlimit(kind, (limit, before[kind][1]))

    def spawn() -> tuple[int, float]:
        if control.recv(1) != GO:
            raise OSError(errno.ECANCELED, os.strerror(errno.ECANCELED))
        begun = time.monotonic()
        pid = os.posix_spawn(
            order["program"],
            order["argv"],
            order["env"],
            file_actions=[(os.POSIX_SPAWN_DUP2, stream, number) for number, stream in enumerate(streams)],
            setsid=True,
            setsigdef=[signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD, signal.SIGINT, signal.SIGTERM],
            setsigmask=[],
        )
        return pid, begun

    try:
        pid, begun = spawn() if order["writable"] is None else _confined(order["writable"], spawn)
    finally:
        for kind, pair in before.items():
            resource.setrlimit(kind, pair)
    for kind, limit in limits.items():  # it must not lift them
        with suppress(OSError):
            resource.prlimit(pid, kind, (limit, limit))
    return pid, begun


def _confined(writable: list[str], spawn: Callable[[], tuple[int, float]]) -> tuple[int, float]:
    """Spawn from a thread that may write below the given folders alone: what it may not do, its child may not.

    Where the kernel has no Landlock, nothing is confined.
    """
    outcome: list[tuple[int, float] | OSError] = []
    done = _thread.allocate_lock()
    done.acquire()

    def work() -> None:
        try:
            _give_up_writing(writable)
            outcome.append(spawn())
        except OSError as error:
            outcome.append(error)
        finally:
            done.release()

    _thread.start_new_thread(work, ())
    done.acquire()
    if isinstance(outcome[0], OSError):
        raise outcome[0]
    return outcome[0]


def confines() -> bool:
    """Tell whether this kernel can keep a process from changing files elsewhere than where it may."""
    return sys.platform == "linux" and int(ctypes.CDLL(None).syscall(_LANDLOCK_CREATE, None, 0, 1)) >= _WHOLE


def _give_up_writing(writable: list[str]) -> None:
    """Keep this thread from changing files elsewhere, and from signals to processes that it has not started.

    Raises OSError where there is Landlock and it refuses: nothing runs unconfined that others count on to be confined.
    """
    library = ctypes.CDLL(None, use_errno=True)
    version = library.syscall(_LANDLOCK_CREATE, None, 0, 1)
    if version < 1:
        return
    handled = sum(1 << right for right in _WRITING if _SINCE.get(right, 1) <= version)
    signals = _SCOPE_OF_SIGNALS if version >= _SINCE_OF_SIGNALS else 0
    size = 24 if version >= _SINCE_OF_SIGNALS else 8
    rules = library.syscall(_LANDLOCK_CREATE, struct.pack("=QQQ", handled, 0, signals), size, 0)
    if rules < 0:
        raise OSError(ctypes.get_errno(), "Landlock cannot be set up")
    for path in writable:
        with suppress(OSError):
            folder = os.open(path, os.O_PATH | os.O_CLOEXEC)
            library.syscall(_LANDLOCK_ADD, rules, 1, struct.pack("=Qi", handled, folder), 0)
            os.close(folder)
    library.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    refused = library.syscall(_LANDLOCK_RESTRICT, rules, 0)
    os.close(rules)
    if refused:
        raise OSError(ctypes.get_errno(), "Landlock cannot be set up")


def _see_to_end(head: int, control: socket.socket, limit: int | None) -> tuple[dict[str, object], bool]:
    """Wait for the end of the process, or bring it about; return how it ended and whether it took too much memory."""
    waiter = select.poll()
    descriptor = os.pidfd_open(head)
    waiter.register(descriptor, select.POLLIN)
    waiter.register(control, select.POLLIN)
    over = False
    while True:
        ready = {each for each, _ in waiter.poll(None if limit is None else _LOOK_AT_MEMORY * 1000)}
        if descriptor in ready:
            break
        if control.fileno() in ready:
            wish = control.recv(1)
            if wish != POLITELY:
                _kill(head, signal.SIGKILL)
                break
            _tell_all(signal.SIGTERM)
        if limit is not None and _takes_more_than(limit):
            over = True
            _kill(head, signal.SIGKILL)
            break
    _, status, usage = os.wait4(head, 0)
    os.close(descriptor)
    code = os.waitstatus_to_exitcode(status)
    facts: dict[str, object] = {"code": code, "peak": usage.ru_maxrss * 1024, "busy": usage.ru_utime + usage.ru_stime}
    return facts, over


def _end_all(grace: float) -> None:
    """End every descendant that is left: told to, then stopped, so that none can fork on, then killed."""
    if not _is_parent():
        return
    if grace:
        _tell_all(signal.SIGTERM)
        deadline = time.monotonic() + grace
        while _is_parent() and time.monotonic() < deadline:
            time.sleep(0.005)
    deadline = time.monotonic() + _LONGEST_END
    stopped: set[int] = set()
    while _is_parent() and time.monotonic() < deadline:
        descendants = _descendants()
        fresh = descendants - stopped
        for pid in fresh:
            _kill(pid, signal.SIGSTOP)
        stopped |= fresh
        if not fresh:
            for pid in descendants:
                _kill(pid, signal.SIGKILL)
            stopped.clear()


def _is_parent() -> bool:
    """Reap what has ended and tell whether any child is left."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def _tell_all(number: int) -> None:
    for pid in _descendants():
        _kill(pid, number)


def _kill(pid: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _descendants() -> set[int]:
    children: dict[int, list[int]] = {}
    for pid, parent in _parents().items():
        children.setdefault(parent, []).append(pid)
    found: set[int] = set()
    waiting = [os.getpid()]
    while waiting:
        fresh = [pid for pid in children.get(waiting.pop(), ()) if pid not in found]
        found.update(fresh)
        waiting += fresh
    return found


def _parents() -> dict[int, int]:
    """Return the parent of every process; zombies, which only wait for being reaped, are left out."""
    parents = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 - names, quickly
        if name.isdigit():
            with suppress(OSError, ValueError, IndexError):
                with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123 - quickly
                    state, parent = file.read().rpartition(b")")[2].split()[:2]
                if state not in {b"Z", b"X"}:
                    parents[int(name)] = int(parent)
    return parents


def _takes_more_than(limit: int) -> bool:
    """Tell whether all descendants together hold more memory; what they share counts once, but is slow to find out."""
    descendants = _descendants()
    return sum(map(_resident, descendants)) > limit and sum(map(_own_share, descendants)) > limit


def _resident(pid: int) -> int:
    with suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/statm", "rb") as file:  # noqa: PTH123 - quickly
        return int(file.read().split()[1]) * resource.getpagesize()
    return 0


def _own_share(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/smaps_rollup", "rb") as file:  # noqa: PTH123 - quickly
            return int(file.read().partition(b"\nPss:")[2].split()[0]) * 1024
    except (OSError, ValueError, IndexError):
        return _resident(pid)


def _say(control: socket.socket, facts: dict[str, object]) -> None:
    with suppress(OSError):
        control.send(json.dumps(facts).encode())


if __name__ == "__main__":
    try:
        serve(socket.socket(fileno=int(sys.argv[1])))
    except OSError as error:
        sys.exit(0 if error.errno == errno.ECONNRESET else 1)
