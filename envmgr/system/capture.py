from __future__ import annotations

import select
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

_BLOCK = 65536
_PATIENCE = 2.0


class Bounded:
    """Keeps the head and the tail of a stream in bounded memory, and says how much was left out between them.

    With a `sink` the head goes there as it comes, so that it is there even if this program is killed.
    """

    def __init__(self, limit: int, sink: IO[bytes] | None = None) -> None:
        self._half = max(limit // 2, 1)
        self._sink = sink
        self._head = bytearray()
        self._room = self._half
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self._dropped = 0

    def add(self, block: bytes) -> None:
        """Take the next bytes of the stream."""
        if self._room:
            head, block = block[: self._room], block[self._room :]
            self._room -= len(head)
            self._keep(head)
        if block:
            self._tail.append(block)
            self._tail_size += len(block)
        while self._tail_size > self._half:
            self._shorten(self._tail_size - self._half)

    def _keep(self, head: bytes) -> None:
        if self._sink is None:
            self._head += head
        else:
            self._sink.write(head)

    def _shorten(self, excess: int) -> None:
        first = self._tail.popleft()
        if len(first) > excess:
            self._tail.appendleft(first[excess:])
        taken = min(len(first), excess)
        self._tail_size -= taken
        self._dropped += taken

    def content(self) -> bytes:
        """Return what is kept, less what went to a sink, with a line in the place of what is left out."""
        gap = f"\n[... {self._dropped} bytes left out ...]\n".encode() if self._dropped else b""
        return bytes(self._head) + gap + b"".join(self._tail)


class Capture:
    """Reads a process's output as it comes: into a log file, or into text.

    Each stream has a thread that reads it, unless whoever waits for the process does so (`attended`): for a short
    process threads cost more than what they read. `hear` is told the lines of the second stream as they come, in its
    thread. A stream that a stray descendant holds open is given up two seconds after the process has ended.
    """

    def __init__(
        self,
        streams: Sequence[IO[bytes] | None],
        log: Path | None,
        limit: int,
        hear: Callable[[str], None] | None = None,
        *,
        attended: bool = False,
    ) -> None:
        self._sink: IO[bytes] | None = None
        if log is not None:
            self._sink = _opened(log)
        self._stores = [Bounded(limit, self._sink) for _ in streams]
        self._failure: OSError | None = None
        self._open: dict[int, tuple[IO[bytes], Bounded]] = {}
        self._readers: list[tuple[threading.Thread, IO[bytes]]] = []
        for number, (stream, store) in enumerate(zip(streams, self._stores, strict=True)):
            if stream is None:
                continue
            if attended:
                self._open[stream.fileno()] = stream, store
            else:
                work = (stream, store, hear if number else None)
                self._readers.append((threading.Thread(target=self._drain, args=work, daemon=True), stream))
        for reader, _ in self._readers:
            reader.start()

    @property
    def sources(self) -> tuple[int, ...]:
        """The descriptors of the streams that whoever waits for the process is to `take` from."""
        return tuple(self._open)

    def take(self, source: int) -> bool:
        """Read what a stream holds, which must be ready, and tell whether more may come."""
        stream, store = self._open[source]
        try:
            block = stream.read1(_BLOCK)  # type: ignore[attr-defined]
        except (OSError, ValueError):
            block = b""
        if block:
            self._add(block, store)
        else:
            del self._open[source]
            stream.close()
        return bool(block)

    def finish(self) -> tuple[str, str]:
        """Complete the log and return stdout and stderr as text (bad bytes replaced); with a log, both are empty.

        Raises OSError when the log could not be written, by then with the process at its end.
        """
        self._take_rest()
        for reader, stream in self._readers:
            reader.join(_PATIENCE)
            if not reader.is_alive():
                stream.close()
        contents = [store.content() for store in self._stores]
        if self._sink is None:
            return contents[0].decode("utf-8", "replace"), contents[1].decode("utf-8", "replace")
        with self._sink:
            self._sink.write(contents[0])
        if self._failure is not None:
            raise self._failure
        return "", ""

    def _take_rest(self) -> None:
        deadline = time.monotonic() + _PATIENCE
        while self._open and (left := deadline - time.monotonic()) > 0:
            waiter = select.poll()
            for source in self._open:
                waiter.register(source, select.POLLIN)
            for source, _ in waiter.poll(left * 1000):
                self.take(source)

    def _drain(self, stream: IO[bytes], store: Bounded, hear: Callable[[str], None] | None) -> None:
        """Read to the end, come what may: a process whose output nobody takes would hang."""
        begun = b""
        try:
            while block := stream.read1(_BLOCK):  # type: ignore[attr-defined]
                self._add(block, store)
                if hear is not None:
                    *lines, begun = (begun + block).split(b"\n")
                    begun = begun[-_BLOCK:]
                    for line in lines:
                        # Who hears may have lost its own stream; that is no reason to take no more of this one.
                        with suppress(OSError, ValueError):
                            hear(line.decode("utf-8", "replace"))
        except (OSError, ValueError):
            return

    def _add(self, block: bytes, store: Bounded) -> None:
        """Keep a block, unless an earlier one could not be."""
        if self._failure is None:
            try:
                store.add(block)
            except OSError as error:
                self._failure = error


def _opened(log: Path) -> IO[bytes]:
    """Open a log anew; its folder is there but for the first one."""
    try:
        return log.open("wb", buffering=0)
    except FileNotFoundError:
        log.parent.mkdir(parents=True, exist_ok=True)
        return log.open("wb", buffering=0)
