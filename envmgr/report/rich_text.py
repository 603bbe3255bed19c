"""Tables and styled words through rich: what the smaller reports are made with."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO

from rich.box import ASCII, SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.table import Table

from envmgr.model.outcome import Outcome
from envmgr.report.look import Look

_WIDE = 200
STYLES = {
    Outcome.PASSED: "green",
    Outcome.XFAIL: "yellow",
    Outcome.XPASS: "bold magenta",
    Outcome.WRONG: "bold magenta",
    Outcome.UNAVAILABLE: "dim",
    Outcome.NOT_OFFERED: "dim",
    Outcome.SKIPPED: "dim",
}
BAD = "bold red"


def render(parts: Sequence[RenderableType], look: Look) -> str:
    """Return what rich makes of the parts, ready to be printed as it is; markup in texts is never interpreted."""
    out = StringIO()
    console = Console(
        file=out,
        width=max(look.width, _WIDE) if look.wide else look.width,
        force_terminal=look.color,
        color_system="standard" if look.color else None,
        no_color=not look.color,
        legacy_windows=False,
        markup=False,
        emoji=False,
        highlight=False,
        _environ={},
    )
    for part in parts:
        console.print(part)
    text = "".join(f"{line.rstrip()}\n" for line in out.getvalue().split("\n")[:-1])
    return text if look.unicode else text.encode("ascii", "backslashreplace").decode("ascii")


def new_table(heads: Sequence[str], look: Look, *, folding: Sequence[int] = (), right: Sequence[int] = ()) -> Table:
    """Return an empty table; the columns in `folding` wrap where the width asks for it, the others never do."""
    table = Table(box=SIMPLE_HEAD if look.unicode else ASCII, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for place, head in enumerate(heads):
        table.add_column(
            head,
            justify="right" if place in right else "left",
            no_wrap=place not in folding,
            overflow="fold" if place in folding else "crop",
        )
    return table
