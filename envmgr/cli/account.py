"""--timings: where the time of a command went, on stderr when it has ended."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from envmgr.app.workplace import Workplace
from envmgr.cli import wishes
from envmgr.ports import Listener


@contextmanager
def accounted(listener: Listener) -> Iterator[tuple[Listener, Callable[[Workplace], None]]]:
    """Give the listener to use, and what is to be done with the workplace so that its processes are timed."""
    if not wishes.TIMINGS:
        yield listener, lambda _: None
        return
    from envmgr.system.timings import TimedListener, TimedProcess, Timings

    timings = Timings()
    timings.note_start()

    def watch(workplace: Workplace) -> None:
        workplace.process = TimedProcess(workplace.caller.environment, timings)

    try:
        yield TimedListener(timings, listener), watch
    finally:
        print("\n".join(timings.lines()), file=sys.stderr)
