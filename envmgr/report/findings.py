"""Several findings as text for people, each with the cells that it explains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console

from envmgr.model.finding import Finding
from envmgr.report.finding import lines_of
from envmgr.report.text import clean, listed

_CELLS_NAMED = 8


def show(found: Sequence[tuple[Sequence[str], Finding]], unexplained: Mapping[str, str], summary: str = "") -> None:
    """Print findings with their cells, then what none of them explains and why."""
    console = Console(highlight=False, soft_wrap=True)
    for number, (cells, finding) in enumerate(found):
        if number:
            console.print()
        console.print(f"cells      {listed(cells, _CELLS_NAMED)}", markup=False)
        for line in lines_of(finding):
            console.print(line, markup=False)
    for cell, why in unexplained.items():
        console.print(f"not explained: {clean(cell)}: {clean(why)}", markup=False)
    if not found:
        console.print("no finding", markup=False)
    if summary:
        console.print(clean(summary), markup=False)
