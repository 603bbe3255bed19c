from __future__ import annotations

import subprocess
import threading
from collections import deque
from pathlib import Path
from typing import IO

_BLOCK = 65536
_PATIENCE = 2.0


class Bounded:
    """Keeps the head and the tail of a stream in bounded memory, and says how much was left out between them."""

    def __init__(self, limit: int) -> None:
        self._half = max(limit // 2, 1)
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self._dropped = 0

    def add(self, block: bytes) -> None:
        """Take the next bytes of the stream."""
        room = self._half - len(self._head)
        if room > 0:
            self._head += block[:room]
            block = block[room:]
        if block:
            self._tail.append(block)
            self._tail_size += len(block)
        while self._tail_size > self._half:
            self._shorten(self._tail_size - self._half)

    def _shorten(self, excess: int) -> None:
        first = self._tail.popleft()
        if len(first) > excess:
            self._tail.appendleft(first[excess:])
        taken = min(len(first), excess)
        self._tail_size -= taken
        self._dropped += taken

    def content(self) -> bytes:
        """Return what is kept, with a line in the place of what is not."""
        gap = f"\n[... {self._dropped} bytes left out ...]\n".encode() if self._dropped else b""
        return bytes(self._head) + gap + b"".join(self._tail)


class Capture:
    """Reads a process's output as it comes: into a log file, or into text.

    A stream that a stray descendant holds open is given up two seconds after the process has ended.
    """

    def __init__(self, process: subprocess.Popen[bytes], log: Path | None, limit: int) -> None:
        self._log = log
        self._stores = [Bounded(limit), Bounded(limit)]
        self._streams = (process.stdout, process.stderr)
        self._readers = [
            threading.Thread(target=_drain, args=(stream, store), daemon=True)
            for stream, store in zip(self._streams, self._stores, strict=True)
            if stream is not None
        ]
        for reader in self._readers:
            reader.start()

    def finish(self) -> tuple[str, str]:
        """Write the log and return stdout and stderr as text (bad bytes replaced); with a log, both are empty."""
        for reader in self._readers:
            reader.join(_PATIENCE)
        for reader, stream in zip(self._readers, [s for s in self._streams if s is not None], strict=True):
            if not reader.is_alive():
                stream.close()
        contents = [store.content() for store in self._stores]
        if self._log is None:
            return contents[0].decode("utf-8", "replace"), contents[1].decode("utf-8", "replace")
        self._log.parent.mkdir(parents=True, exist_ok=True)
        self._log.write_bytes(contents[0])
        return "", ""


def _drain(stream: IO[bytes], store: Bounded) -> None:
    try:
        while block := stream.read1(_BLOCK):  # type: ignore[attr-defined]
            store.add(block)
    except (OSError, ValueError):
        return
