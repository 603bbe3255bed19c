"""A command that does again what it did: a build whose env was removed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from envmgr.app.repeating import Repetition
from envmgr.cli.later import filled
from envmgr.cli.lines import lines
from envmgr.cli.said import print_answer
from envmgr.cli.signals import end_on_signals


def repeat(recipe: Mapping[str, Any], answer: str, cache: str, argv: Sequence[str], *, quiet: bool) -> int | None:
    """Build after a recipe, print the answer and return the exit code; None where it is to be built all the way."""
    end_on_signals()
    repetition = Repetition(Path(cache, "scratch"))
    try:
        with lines(quiet=quiet) as listener:
            seconds = repetition.build(recipe, listener)
    except KeyboardInterrupt:
        repetition.process.stop_all()
        from envmgr.cli.session import Options, tell_of_interruption

        return tell_of_interruption(Options(argv[0], "--json" in argv, None, debug="--debug" in argv))
    if seconds is None:
        return None
    print_answer(filled(answer, seconds))
    return 0
