"""matrix compare."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from envmgr.cli.completion import complete_cells, complete_runs
from envmgr.cli.options import DebugFlag, JsonFlag, ProjectOption
from envmgr.cli.session import Answer, Options, leaving_cycles, perform


def register(group: typer.Typer) -> None:
    """Add the command."""
    group.command()(compare)


def compare(
    runs: Annotated[
        list[str] | None,
        typer.Argument(metavar="RUN", help="Runs, by (the beginning of) their ids.", autocompletion=complete_runs),
    ] = None,
    cell: Annotated[
        list[str] | None,
        typer.Option(
            "--cell",
            metavar="CELL",
            help="Cells of a run: the others against the first.",
            autocompletion=complete_cells,
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline", metavar="RUN|CELL", help="The run or cell to compare with.", autocompletion=complete_runs
        ),
    ] = None,
    fail_if_slower: Annotated[
        str | None, typer.Option("--fail-if-slower", metavar="10%", help="Exit 1 when a cell is slower by more.")
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="As Markdown, for an issue or a pull request.")] = False,
    json: JsonFlag = False,
    project: ProjectOption = None,
    debug: DebugFlag = False,
) -> None:
    """Compare two runs, or cells within a run: faster, slower, the same, or the data cannot tell.

    Exit 1 when a cell that was good is no longer so, or one is slower than --fail-if-slower allows.
    """
    from envmgr.app.comparing import CompareWishes, slower_than
    from envmgr.app.comparing import compare as compared_with
    from envmgr.app.workplace import Workplace
    from envmgr.cli.look import look
    from envmgr.report import comparison

    def action(workplace: Workplace) -> Answer:
        limit = None if fail_if_slower is None else share(fail_if_slower)
        found = compared_with(workplace, CompareWishes(tuple(runs or ()), tuple(cell or ()), baseline))
        regressed = any(pair.regressed for pair in found.pairs)
        too_slow = limit is not None and bool(slower_than(found, limit))
        text = comparison.markdown(found) if markdown else comparison.text(found, look())
        return Answer(found, lambda: print(text, end=""), int(regressed or too_slow))

    with leaving_cycles():
        perform(Options("matrix compare", json, project, debug), action)


def share(text: str) -> float:
    """Return a share written as `10%` or `0.1`; raises UsageError for anything else.

    >>> share("10%"), share("0.1"), share("2.5 %")
    (0.1, 0.1, 0.025)
    """
    from envmgr.errors import UsageError

    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(%?)\s*", text)
    if found is None:
        raise UsageError(f"{text!r} is no share", "wanted a percentage or a number", "10%, or 0.1")
    return float(found[1]) / (100 if found[2] else 1)
