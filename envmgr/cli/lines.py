"""Progress on stderr as far as it is told by events: plain lines, and on a terminal a last one of what is running."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TextIO

from envmgr.cli.bar import Bar
from envmgr.outside import Event, Hearer
from envmgr.system.caller import terminal_width


class Silence:
    """Tells of nothing."""

    def on_event(self, event: Event) -> None:
        """Print nothing."""


class PlainLines:
    """Prints one line an event on stderr, with the seconds since the start."""

    def __init__(self) -> None:
        self._begun = time.monotonic()

    def on_event(self, event: Event) -> None:
        """Print what happened."""
        count = f" ({event.done}/{event.total})" if event.total else ""
        self.say(" ".join(part for part in (event.stage, event.subject, event.detail) if part) + count)

    def say(self, text: str) -> None:
        """Print one line."""
        print(f"{time.monotonic() - self._begun:7.1f} s  {text}", file=sys.stderr, flush=True)


class LiveLines(PlainLines):
    """Adds a last line to the plain ones that tells what is running now, for how long, and what is being fetched."""

    def __init__(self) -> None:
        super().__init__()
        self.running: dict[str, float] = {}
        self.guard = threading.Lock()
        self._fetched: dict[str, str] = {}
        self._bar = Bar(time.monotonic)
        self._shown = False
        self._ended = threading.Event()
        self._ticker = threading.Thread(target=self._tick, daemon=True)
        self._ticker.start()

    def on_event(self, event: Event) -> None:
        """Print what happened; a stage that begins stays in the last line until it is done."""
        with self.guard:
            self._bar.note(event.subject, event.facts)
            if event.stage in {"fetch", "build"}:
                self._fetched[event.subject] = event.detail
                return
            self.running.pop(event.subject, None)
            self._fetched.pop(event.subject, None)
            if event.stage not in {"built", "ready", "failed", "done", "going on"} and event.subject:
                self.running[event.subject] = time.monotonic()
        super().on_event(event)

    def close(self) -> None:
        """Stop, and leave the terminal clean."""
        self._ended.set()
        self._ticker.join()
        self._take_back()

    def say(self, text: str) -> None:
        """Print one line above the last one."""
        self._take_back()
        super().say(text)

    def _take_back(self) -> None:
        """Clear the last line if it is ours: what else stands there, another program has written."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._shown = False

    def now(self) -> list[str]:
        """Return what is running, each with its seconds and with what it fetches."""
        with self.guard:
            return [
                f"{name} {time.monotonic() - since:.0f} s" + (f" ({told})" if (told := self._fetched.get(name)) else "")
                for name, since in self.running.items()
            ]

    def _bar_now(self) -> str:
        with self.guard:
            return self._bar.shown()

    def _tick(self) -> None:
        while not self._ended.wait(0.5):
            now = self.now()
            if now:
                self._shown = True
                sys.stderr.write("\r\x1b[K" + running(now, terminal_width(80), self._bar_now()))
                sys.stderr.flush()


def running(now: Sequence[str], width: int, bar: str = "") -> str:
    """Return the last line, at most `width` - 1 columns wide: a line that wraps could not be taken back."""
    told = "; ".join(filter(None, (bar, f"running: {', '.join(now)}")))
    indent = " " * min(10, max(0, width - 1 - len(told)))
    return f"{indent}{told}"[: max(width - 1, 0)]


def is_live(stream: TextIO) -> bool:
    """Tell whether a line can be shown and taken back: on a terminal that can, before somebody who looks at it."""
    return stream.isatty() and os.environ.get("TERM") != "dumb" and not os.environ.get("CI")


@contextmanager
def lines(*, quiet: bool) -> Iterator[Hearer]:
    """Give who tells of events in the way that fits stderr, and end it afterwards."""
    if quiet:
        yield Silence()
    elif is_live(sys.stderr):
        live = LiveLines()
        try:
            yield live
        finally:
            live.close()
    else:
        yield PlainLines()
