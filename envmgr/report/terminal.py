"""The matrix in a terminal: tables that read well in 80 columns, reasons below them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from io import StringIO
from typing import NamedTuple

from rich.box import ASCII, SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from envmgr.model.cell import Plan
from envmgr.model.outcome import Outcome
from envmgr.report.look import Look, signed
from envmgr.report.original import OriginalTable
from envmgr.report.summary import MatrixView, Note, Row, Section, headline
from envmgr.report.text import amount, clean, parameters, ratio, seconds

_ROOMY = 112
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
_BAD = "bold red"


class Column(NamedTuple):
    """One column of a table: its head, what it shows of a thing, and how."""

    head: str
    text: Callable[[Row], str | Text]
    right: bool = False
    fold: bool = False


def matrix(view: MatrixView, look: Look) -> str:
    """Return a run as text: a table a runner, the reasons, and one sentence that sums up."""
    parts: list[RenderableType] = [Text(_title(view), style="bold")]
    for section in view.sections:
        parts += [Text(""), _heading(section), _table(section, look)]
    if view.notes:
        parts.append(Text("\nWhy", style="bold"))
        parts += [_note(note) for note in view.notes]
    parts += [Text(f"\ndamaged, left out: {clean(text)}", style=_BAD) for text in view.damaged]
    parts += [Text(""), Text(headline(view), style=_BAD if view.unexpected else "bold")]
    return render(parts, look)


def plan(planned: Plan, look: Look) -> str:
    """Return the cells of a plan as text, those that will not run with their reason."""
    table = new_table(("id", "version set", "runner", "device", "plan"), look, folding=(1, 2, 3, 4))
    for cell in planned.cells:
        told = styled(cell.refusal, look, cell.reason) if cell.refusal else Text("measure", style="green")
        table.add_row(cell.id, clean(cell.label), clean(cell.runner), clean(cell.device_name), told)
    refused = sum(cell.refusal is not None for cell in planned.cells)
    total = (
        f"{len(planned.cells)} cells on {clean(planned.host)}: {len(planned.cells) - refused} to measure, "
        f"{_processes(planned.processes)} each; {refused} that cannot run"
    )
    return render([table, Text(total)], look)


def original(table: OriginalTable, look: Look) -> str:
    """Return one of the two original tables as text."""
    grid = new_table(table.heads, look, folding=range(len(table.heads)), right=range(1, len(table.heads)))
    for row in table.rows:
        grid.add_row(*(clean(text) for text in row))
    return render([Text(clean(table.title), style="bold"), grid, Text(clean(table.footnote), style="dim")], look)


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


def styled(outcome: Outcome, look: Look, reason: str = "") -> Text:
    """Return an outcome by sign, word and colour, with its reason behind it."""
    text = Text(signed(outcome, unicode=look.unicode), style=STYLES.get(outcome, _BAD))
    return text.append(f": {clean(reason)}", style="default not bold") if reason else text


def _title(view: MatrixView) -> str:
    state = "" if view.finished else ", not finished"
    effort = f"{view.effort} ({_processes(view.processes)} a cell)"
    return clean(f"{view.matrix}: run {view.run} on {view.host}, {effort}{state}")


def _processes(count: int) -> str:
    return "1 process" if count == 1 else f"{count} processes"


def _heading(section: Section) -> Text:
    heading = Text(clean(section.runner), style="bold cyan")
    if section.parameters:
        heading.append(f"  {parameters(section.parameters)}", style="default not bold")
    if section.baseline:
        heading.append(f"\nspeed: times as fast as {clean(section.baseline)}", style="dim not bold")
    return heading


def _table(section: Section, look: Look) -> Table:
    columns = _columns(look)
    table = new_table(
        [column.head for column in columns],
        look,
        folding=[place for place, column in enumerate(columns) if column.fold],
        right=[place for place, column in enumerate(columns) if column.right],
    )
    for row in section.rows:
        table.add_row(*(column.text(row) for column in columns))
    return table


def _columns(look: Look) -> list[Column]:
    """Return the columns for a width: the least that tells the story, more where there is room, all if asked for."""
    columns = [
        Column("version set", lambda row: clean(row.label), fold=True),
        Column("device", lambda row: clean(row.device), fold=True),
        Column("outcome", lambda row: styled(row.outcome, look)),
        Column("first", lambda row: seconds(row.summary.first_call), right=True),
        Column("median", lambda row: seconds(row.summary.median), right=True),
    ]
    if look.wide or look.width >= _ROOMY:
        columns.append(Column("spread", _spread, right=True))
        columns.append(Column("parity", _parity, right=True))
        columns.append(Column("memory", lambda row: amount(row.summary.peak_memory), right=True))
    if look.wide:
        columns.append(Column("min", lambda row: seconds(row.summary.minimum), right=True))
        columns.append(Column("max", lambda row: seconds(row.summary.maximum), right=True))
        columns.append(
            Column("samples", lambda row: f"{row.summary.samples}" if row.summary.samples else "", right=True)
        )
        columns.append(Column("items/s", _throughput, right=True))
        columns.append(Column("Python", lambda row: clean(row.python)))
        columns.append(Column("cell", lambda row: row.cell))
    columns.append(Column("speed", lambda row: ratio(row.speed), right=True))
    columns.append(Column("why", lambda row: f"[{row.note}]" if row.note else "", right=True))
    return columns


def _spread(row: Row) -> str:
    middle, spread = row.summary.median, row.summary.spread
    return f"{100 * spread / middle:.1f} %" if middle and spread is not None else ""


def _parity(row: Row) -> str:
    if row.parity is None:
        return ""
    return "reference" if row.parity.reference == row.cell else _error_of(row)


def _error_of(row: Row) -> str:
    compared = row.parity is not None and row.parity.verdict != "not-compared"
    return f"{row.parity.max_rel:.1e}" if row.parity and compared else "not compared"


def _throughput(row: Row) -> str:
    return f"{row.summary.throughput:.4g}" if row.summary.throughput else ""


def _note(note: Note) -> Padding:
    observed = f", observed {note.observed.value}" if note.observed and note.observed is not note.outcome else ""
    text = Text(f"[{note.number}] ", style="bold")
    text.append(f"{note.outcome.value}{observed}", style=STYLES.get(note.outcome, _BAD))
    text.append(f": {clean(note.reason)}\n", style="default")
    text.append(clean(", ".join(note.cells)), style="dim")
    return Padding(text, (0, 0, 0, 2))
