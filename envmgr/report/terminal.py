"""The matrix in a terminal: tables that read well in 80 columns, reasons below them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from rich.text import Text

from envmgr.model.cell import Cell, Plan
from envmgr.model.outcome import Outcome
from envmgr.report.doubts import MarkNote
from envmgr.report.grid import Column, Words, grid, paragraph
from envmgr.report.look import Look, signed
from envmgr.report.original import OriginalTable
from envmgr.report.rich_text import BAD, STYLES, new_table, render
from envmgr.report.shared_findings import SharedFinding
from envmgr.report.spark import sparkline
from envmgr.report.summary import MatrixView, Note, Row, Section, error_of, headline, letters_of
from envmgr.report.text import amount, clean, listed, parameters, processes, ratio, seconds

_ROOMY = 118
_SPARK = 10
_CELLS_NAMED = 12


class Shown(NamedTuple):
    """One column of the matrix: its place in a table, and what it shows of a row."""

    column: Column
    words: Callable[[Row], Words]


def matrix(view: MatrixView, look: Look) -> str:
    """Return a run as text: a table a runner, the reasons, what disturbed it, and one sentence that sums up."""
    parts = [paragraph([Words(_title(view), "bold")], look)]
    parts += [paragraph([Words(clean(line), "dim")], look) for line in view.rounds]
    for section in view.sections:
        parts += ["\n", paragraph(_heading(section), look), *_tables(view, section, look)]
    if view.notes:
        parts.append(paragraph([Words("\nWhy", "bold")], look))
        parts += [paragraph(_note(note), look, indent=2) for note in view.notes]
    if view.findings:
        parts.append(paragraph([Words("\nFindings", "bold")], look))
        parts += [_finding(found, look) for found in view.findings]
    for title, marks in (("Compared with nothing", view.unchecked), ("Measured under", view.marks)):
        parts += doubts(title, marks, look)
    parts += [paragraph([Words(f"\ndamaged, left out: {clean(text)}", BAD)], look) for text in view.damaged]
    parts.append("\n" + paragraph([Words(headline(view), BAD if view.unexpected else "bold")], look))
    text = "".join(parts)
    return text if look.unicode else text.encode("ascii", "backslashreplace").decode("ascii")


def _finding(found: SharedFinding, look: Look) -> str:
    first, *others = (clean(line) for line in found.causes)
    told = [Words(f"{line}\n") for line in others]
    told += [Words(f"{clean(found.state)}\n", "bold" if found.finding.confirmed else ""), named(found.cells)]
    return paragraph([Words(f"- {first}")], look, indent=2) + paragraph(told, look, indent=4)


def doubts(title: str, marks: Sequence[MarkNote], look: Look) -> list[str]:
    """Return what letters in a table mean and which cells have them, below a title; nothing without any."""
    if not marks:
        return []
    return [paragraph([Words(f"\n{title}", "bold")], look), *(_mark(mark, look) for mark in marks)]


def plan(planned: Plan, look: Look) -> str:
    """Return the cells of a plan as text, those that will not run with their reason."""
    columns = [Column("id"), *(Column(head, fold=True) for head in ("version set", "runner", "device", "plan"))]
    rows = [
        [*(Words(clean(text)) for text in (cell.id, cell.label, cell.runner, cell.device_name)), _planned(cell, look)]
        for cell in planned.cells
    ]
    refused = sum(cell.refusal is not None for cell in planned.cells)
    each = processes(planned.processes, planned.further.processes if planned.further else None)
    total = (
        f"{len(planned.cells)} cells on {clean(planned.host)}: {len(planned.cells) - refused} to measure, "
        f"{each} each; {refused} that cannot run"
    )
    text = grid(columns, rows, look) + paragraph([Words(total)], look)
    return text if look.unicode else text.encode("ascii", "backslashreplace").decode("ascii")


def _planned(cell: Cell, look: Look) -> Words:
    if cell.refusal is None:
        return Words("measure", "green")
    return Words(f"{signed(cell.refusal, unicode=look.unicode)}: {clean(cell.reason)}", STYLES.get(cell.refusal, BAD))


def original(table: OriginalTable, look: Look) -> str:
    """Return one of the two original tables as text."""
    grid = new_table(table.heads, look, folding=range(len(table.heads)), right=range(1, len(table.heads)))
    for row in table.rows:
        grid.add_row(*(clean(text) for text in row))
    return render([Text(clean(table.title), style="bold"), grid, Text(clean(table.footnote), style="dim")], look)


def _title(view: MatrixView) -> str:
    state = "" if view.finished else ", not finished"
    effort = f"{view.effort} ({processes(view.processes, view.most_processes)} a cell)"
    return clean(f"{view.matrix}: run {view.run} on {view.host}, {effort}{state}")


def _heading(section: Section) -> Iterable[Words]:
    yield Words(clean(section.runner), "bold cyan")
    if section.parameters:
        yield Words(f"  {parameters(section.parameters)}")
    if section.baseline:
        yield Words(f"\nspeed: times as fast as {clean(section.baseline)}", "dim cyan")


def _tables(view: MatrixView, section: Section, look: Look) -> Iterable[str]:
    """Return one table where the width has room for all, else two: what came of the cells, and how they were timed."""
    several = len(view.hosts) > 1
    if look.wide or look.width >= _ROOMY:
        columns = [*_which(several), *_outcome(look), *_speed(), *_timing(look), *_more(look), *_why()]
        yield _table(section.rows, columns, look)
        return
    yield _table(section.rows, [*_which(several), *_outcome(look), *_speed(), *_why()], look)
    timed = [row for row in section.rows if row.summary.samples]
    if timed:
        yield "\n"
        yield _table(timed, [*_which(several), *_timing(look)], look)


def _table(rows: Sequence[Row], columns: Sequence[Shown], look: Look) -> str:
    """Return a table; a column that has nothing to say of any row is left out."""
    shown = [(each.column, [each.words(row) for row in rows]) for each in columns]
    told = [(column, words) for column, words in shown if any(text for text, _ in words)]
    return grid([column for column, _ in told], list(zip(*(words for _, words in told), strict=True)), look)


def _which(several_hosts: bool) -> list[Shown]:
    hosts = [Shown(Column("host", fold=True), lambda row: Words(clean(row.host)))] if several_hosts else []
    return [
        *hosts,
        Shown(Column("version set", fold=True), lambda row: Words(clean(row.label))),
        Shown(Column("device", fold=True), lambda row: Words(clean(row.device))),
    ]


def _outcome(look: Look) -> list[Shown]:
    styled = {outcome: Words(signed(outcome, unicode=look.unicode), STYLES.get(outcome, BAD)) for outcome in Outcome}
    return [
        Shown(Column("outcome"), lambda row: styled[row.outcome]),
        Shown(Column("first", right=True), lambda row: Words(seconds(row.summary.first_call))),
        Shown(Column("median", right=True), lambda row: Words(seconds(row.summary.median))),
    ]


def _speed() -> list[Shown]:
    return [Shown(Column("speed", right=True), lambda row: Words(ratio(row.speed)))]


def _why() -> list[Shown]:
    return [Shown(Column("why", right=True), lambda row: Words(_reference(row)))]


def _timing(look: Look) -> list[Shown]:
    def drawn(row: Row) -> Words:
        return Words(sparkline(row.drawn, _SPARK, unicode=look.unicode))

    return [
        Shown(Column("95 % between", right=True), lambda row: Words(_interval(row))),
        Shown(Column("spread", right=True), lambda row: Words(_spread(row))),
        Shown(Column("parity", right=True), lambda row: Words(error_of(row))),
        Shown(Column("memory", right=True), lambda row: Words(amount(row.summary.peak_memory))),
        Shown(Column("samples"), drawn),
    ]


def _more(look: Look) -> list[Shown]:
    if not look.wide:
        return []
    return [
        Shown(Column("min", right=True), lambda row: Words(seconds(row.summary.minimum))),
        Shown(Column("max", right=True), lambda row: Words(seconds(row.summary.maximum))),
        Shown(Column("processes", right=True), lambda row: Words(f"{row.summary.processes or ''}")),
        Shown(Column("count", right=True), lambda row: Words(f"{row.summary.samples or ''}")),
        Shown(Column("items/s", right=True), lambda row: Words(_throughput(row))),
        Shown(Column("Python"), lambda row: Words(clean(row.python))),
        Shown(Column("cell"), lambda row: Words(row.cell)),
    ]


def _reference(row: Row) -> str:
    """Return where the reader finds more: the number of the reason, the letters of what makes it doubtful."""
    letters = letters_of(row)
    return f"{letters} [{row.note}]".lstrip() if row.note else letters


def _interval(row: Row) -> str:
    interval = row.summary.interval
    return f"{seconds(interval[0])} - {seconds(interval[1])}" if interval else ""


def _spread(row: Row) -> str:
    middle, spread = row.summary.median, row.summary.spread
    return f"{100 * spread / middle:.1f} %" if middle and spread is not None else ""


def _throughput(row: Row) -> str:
    return f"{row.summary.throughput:.4g}" if row.summary.throughput else ""


def _note(note: Note) -> Iterable[Words]:
    observed = f", observed {note.observed.value}" if note.observed and note.observed is not note.outcome else ""
    yield Words(f"[{note.number}] ", "bold")
    yield Words(f"{note.outcome.value}{observed}", STYLES.get(note.outcome, BAD))
    yield Words(f": {clean(note.reason)}\n")
    yield named(note.cells)


def _mark(mark: MarkNote, look: Look) -> str:
    words = [Words(f"{mark.letter}  ", "bold"), Words(f"{clean(mark.text)}\n"), named(mark.cells)]
    return paragraph(words, look, indent=2)


def named(cells: Sequence[str]) -> Words:
    """Return names one after the other, of many only the first ones."""
    return Words(listed(cells, _CELLS_NAMED), "dim")
