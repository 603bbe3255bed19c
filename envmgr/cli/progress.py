"""Live progress on stderr: what runs, since when, how far; plain lines where there is no terminal."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from envmgr.model.cell import Cell, Plan
from envmgr.model.result import CellResult
from envmgr.ports import Event, Listener
from envmgr.system.caller import terminal_width


def describe(cell: Cell) -> str:
    """Return a cell as one readable phrase."""
    name = cell.manifest if cell.variant == "default" else f"{cell.manifest}@{cell.variant}"
    device = cell.device.id if cell.device else cell.device_asked
    return f"{name} {cell.runner}" + (f" on {device}" if device else "")


class PlainListener(Listener):
    """Prints one line an event on stderr, with the seconds since the start."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._total = 0
        self._done = 0

    def on_event(self, event: Event) -> None:
        """Print what happened."""
        count = f" ({event.done}/{event.total})" if event.total else ""
        self._say(" ".join(part for part in (event.stage, event.subject, event.detail) if part) + count)

    def on_plan(self, plan: Plan, measured: int = 0) -> None:
        """Remember how much there is to do."""
        self._total = sum(1 for cell in plan.cells if cell.refusal is None) * plan.processes
        self._done = measured
        again = f" ({measured} of {self._total} are there)" if measured else ""
        self._say(f"{len(plan.cells)} cells, {self._total - measured} processes to run{again}")

    def on_further(self, processes: int) -> None:
        """Count further processes in."""
        self._total += processes

    def on_cell_finished(self, cell: Cell, result: CellResult) -> None:
        """Print one result; one that an `[[expect]]` tells in advance is nothing to start at."""
        from envmgr.cell.judge import foreseen

        self._done += 1
        told = f"{result.outcome}, as expected," if foreseen(cell, result) else result.outcome
        self._say(f"[{self._done}/{self._total}] {describe(cell)}: {told} in {result.elapsed:.1f} s")

    def _say(self, text: str) -> None:
        print(f"{time.monotonic() - self._begun:7.1f} s  {text}", file=sys.stderr, flush=True)


class LiveListener(PlainListener):
    """Adds a last line to the plain ones that tells what is running now, for how long, and what is being fetched."""

    def __init__(self) -> None:
        super().__init__()
        self._now: dict[str, float] = {}
        self._fetched: dict[str, str] = {}
        self._guard = threading.Lock()
        self._ended = threading.Event()
        self._ticker = threading.Thread(target=self._tick, daemon=True)
        self._ticker.start()

    def on_event(self, event: Event) -> None:
        """Print what happened; a stage that begins stays in the last line until it is done."""
        with self._guard:
            if event.stage == "fetch":
                self._fetched[event.subject] = event.detail
                return
            self._now.pop(event.subject, None)
            self._fetched.pop(event.subject, None)
            if event.stage not in {"built", "ready", "failed", "done", "going on"} and event.subject:
                self._now[event.subject] = time.monotonic()
        super().on_event(event)

    def on_cell_started(self, cell: Cell, round_number: int) -> None:  # noqa: ARG002 - all rounds look alike
        """Show the cell in the last line."""
        with self._guard:
            self._now[describe(cell)] = time.monotonic()

    def on_cell_finished(self, cell: Cell, result: CellResult) -> None:
        """Take the cell out of the last line and print its result."""
        with self._guard:
            self._now.pop(describe(cell), None)
        super().on_cell_finished(cell, result)

    def close(self) -> None:
        """Stop, and leave the terminal clean."""
        self._ended.set()
        self._ticker.join()
        sys.stderr.write("\r\x1b[K")

    def _say(self, text: str) -> None:
        sys.stderr.write("\r\x1b[K")
        super()._say(text)

    def now(self) -> list[str]:
        """Return what is running, each with its seconds and with what it fetches."""
        with self._guard:
            return [
                f"{name} {time.monotonic() - since:.0f} s" + (f" ({told})" if (told := self._fetched.get(name)) else "")
                for name, since in self._now.items()
            ]

    def _tick(self) -> None:
        while not self._ended.wait(0.5):
            now = self.now()
            if now:
                sys.stderr.write("\r\x1b[K" + running(now, terminal_width(80)))
                sys.stderr.flush()


def running(now: Sequence[str], width: int) -> str:
    """Return the last line, at most `width` - 1 columns wide: a line that wraps could not be taken back."""
    return f"          running: {', '.join(now)}"[: max(width - 1, 0)]


@contextmanager
def progress(*, quiet: bool) -> Iterator[Listener]:
    """Give the listener that fits stderr, and end it afterwards."""
    if quiet:
        yield Listener()
    elif sys.stderr.isatty():
        live = LiveListener()
        try:
            yield live
        finally:
            live.close()
    else:
        yield PlainListener()
