"""What a request to end does to a command."""

from __future__ import annotations

import os
import signal
from types import FrameType

INTERRUPTED = 130


def end_on_signals() -> None:
    """Treat a request to end like Ctrl-C, so that what was measured is kept; a second request ends all at once.

    What the caller has told its children to ignore, as `nohup` does, stays ignored.
    """
    asked: list[int] = []

    def interrupt(number: int, _frame: FrameType | None) -> None:
        asked.append(number)
        if len(asked) > 1:
            os._exit(INTERRUPTED)
        raise KeyboardInterrupt

    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, interrupt)
