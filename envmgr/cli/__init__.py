"""Typer commands: parse, one use case, render, exit code."""

from __future__ import annotations

import gc
import os
from collections.abc import Sequence

from envmgr.cli.quick import answered, repeated
from envmgr.cli.said import print_answer


def run(argv: Sequence[str]) -> int:
    """Run one command line and return its exit code; a wrong one is told in one error, as JSON where that was asked.

    One that is known to have nothing to do is answered at once.
    """
    if _COMPLETING in os.environ:
        from envmgr.cli.shells import answer as told

        if (found := told(os.environ)) is not None:
            print_answer(f"{found[0]}\n" if found[0] else "")
            return found[1]
    argv, asked = _without_general(argv)
    if "--timings" not in asked:
        code = 0 if answered(argv) else repeated(argv, quiet="--quiet" in asked)
        if code is not None:
            return code
    # Results are many small values without cycles: looking for cycles among them again and again takes half the time.
    gc.set_threshold(200_000, 50, 50)
    import typer

    from envmgr.cli import wishes
    from envmgr.cli.application import application
    from envmgr.cli.session import UsageProblem, show_usage_error

    wishes.TIMINGS, wishes.QUIET, wishes.LINE = "--timings" in asked, "--quiet" in asked, tuple(argv)
    try:
        answer = application(argv[0] if argv else "")(list(argv), standalone_mode=False, prog_name="envmgr")
    except typer.Abort:
        return 130
    except UsageProblem as error:
        return show_usage_error(error, argv)
    return answer if isinstance(answer, int) else 0


def _without_general(argv: Sequence[str]) -> tuple[list[str], frozenset[str]]:
    """Return the command line without the options that stand anywhere in it, and those that were there.

    What stands after `--` belongs to another program.
    """
    words = list(argv)
    own = words[: words.index("--")] if "--" in words else words
    kept = [word for word in own if word not in _GENERAL]
    return kept + words[len(own) :], frozenset(own) & _GENERAL


_COMPLETING = "_ENVMGR_COMPLETE"
_GENERAL = frozenset({"--timings", "--quiet"})
