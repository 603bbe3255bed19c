"""Live progress on stderr: what runs, since when, how far; plain lines where there is no terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from envmgr.cli.lines import LiveLines, PlainLines, is_live, running
from envmgr.model.cell import Cell, Plan
from envmgr.model.result import CellResult
from envmgr.ports import Listener

__all__ = ["LiveListener", "PlainListener", "describe", "progress", "running"]


def describe(cell: Cell) -> str:
    """Return a cell as one readable phrase."""
    name = cell.manifest if cell.variant == "default" else f"{cell.manifest}@{cell.variant}"
    device = cell.device.id if cell.device else cell.device_asked
    return f"{name} {cell.runner}" + (f" on {device}" if device else "")


class PlainListener(PlainLines, Listener):
    """Prints one line an event and a cell on stderr, with the seconds since the start."""

    def __init__(self) -> None:
        super().__init__()
        self._total = 0
        self._done = 0

    def on_plan(self, plan: Plan, measured: int = 0) -> None:
        """Remember how much there is to do."""
        self._total = sum(1 for cell in plan.cells if cell.refusal is None) * plan.processes
        self._done = measured
        again = f" ({measured} of {self._total} are there)" if measured else ""
        self.say(f"{len(plan.cells)} cells, {self._total - measured} processes to run{again}")

    def on_further(self, processes: int) -> None:
        """Count further processes in."""
        self._total += processes

    def on_cell_finished(self, cell: Cell, result: CellResult) -> None:
        """Print one result; one that an `[[expect]]` tells in advance is nothing to start at."""
        from envmgr.cell.judge import foreseen

        self._done += 1
        told = f"{result.outcome}, as expected," if foreseen(cell, result) else result.outcome
        self.say(f"[{self._done}/{self._total}] {describe(cell)}: {told} in {result.elapsed:.1f} s")


class LiveListener(LiveLines, PlainListener):
    """Adds a last line to the plain ones that tells what is running now, for how long, and what is being fetched."""

    def on_terminal_taken(self) -> None:
        """Show nothing more."""
        self.close()

    def on_cell_started(self, cell: Cell, round_number: int) -> None:  # noqa: ARG002 - all rounds look alike
        """Show the cell in the last line."""
        with self.guard:
            self.running[describe(cell)] = time.monotonic()

    def on_cell_finished(self, cell: Cell, result: CellResult) -> None:
        """Take the cell out of the last line and print its result."""
        with self.guard:
            self.running.pop(describe(cell), None)
        super().on_cell_finished(cell, result)


@contextmanager
def progress(*, quiet: bool) -> Iterator[Listener]:
    """Give the listener that fits stderr, and end it afterwards."""
    if quiet:
        yield Listener()
    elif is_live(sys.stderr):
        live = LiveListener()
        try:
            yield live
        finally:
            live.close()
    else:
        yield PlainListener()
