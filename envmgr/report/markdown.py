"""The matrix as Markdown, for an issue or a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from envmgr.report.look import signed
from envmgr.report.original import OriginalTable
from envmgr.report.summary import MatrixView, Row, Section, error_of, headline, letters_of
from envmgr.report.text import amount, clean, parameters, ratio, seconds

_HEADS = ("version set", "device", "outcome", "first", "median", "speed", "error", "memory", "why")
_RIGHT = frozenset({"first", "median", "speed", "error", "memory", "why"})


def matrix(view: MatrixView) -> str:
    """Return a run as Markdown: a table a runner, the reasons as a list, one sentence that sums up."""
    lines = [
        f"### {escaped(view.matrix)}",
        "",
        f"run `{_code(view.run)}` on {escaped(view.host)}, effort {escaped(view.effort)}: {headline(view)}",
    ]
    lines += ["", *(f"- {escaped(line)}" for line in view.rounds)] if view.rounds else []
    for section in view.sections:
        lines += ["", *_section(section)]
    if view.notes:
        lines.append("")
    for note in view.notes:
        observed = f", observed {note.observed.value}" if note.observed and note.observed is not note.outcome else ""
        told = f"**{note.outcome.value}**{observed}: {escaped(note.reason)}"
        lines.append(f"{note.number}. {told} ({_cells_named(note.cells)})")
    if view.findings:
        lines += ["", "findings:", ""]
    for found in view.findings:
        causes = "; ".join(escaped(line) for line in found.causes)
        lines.append(f"- {causes}. {escaped(found.state)} ({_cells_named(found.cells)})")
    for title, marks in (("compared with nothing", view.unchecked), ("measured under", view.marks)):
        if marks:
            lines += ["", f"{title}:", ""]
        lines += [f"- `{mark.letter}` {escaped(mark.text)} ({_cells_named(mark.cells)})" for mark in marks]
    if view.damaged:
        lines.append("")
    lines += [f"- damaged, left out: {escaped(text)}" for text in view.damaged]
    return "\n".join(lines) + "\n"


def original(made: OriginalTable) -> str:
    """Return one of the two original tables as Markdown."""
    lines = [f"### {escaped(made.title)}", "", *table(made.heads, set(made.heads[1:]), made.rows)]
    return "\n".join([*lines, "", escaped(made.footnote)] if made.footnote else lines) + "\n"


def escaped(text: str) -> str:
    r"""Return untrusted text so that Markdown shows it as it is, on one line.

    >>> escaped("a|b <i>*c*</i>")
    'a\\|b \\<i\\>\\*c\\*\\</i\\>'
    """
    return re.sub(r"([\\`*_\[\]<>#|~&])", r"\\\1", clean(text))


def _section(section: Section) -> list[str]:
    heading = f"#### {escaped(section.runner)}"
    if section.parameters:
        heading += f" `{_code(parameters(section.parameters))}`"
    baseline = [f"speed: times as fast as `{_code(section.baseline)}`", ""] if section.baseline else []
    return [heading, "", *baseline, *table(_HEADS, _RIGHT, (_cells(row) for row in section.rows))]


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row.label,
        row.device,
        signed(row.outcome),
        seconds(row.summary.first_call),
        seconds(row.summary.median),
        ratio(row.speed),
        error_of(row),
        amount(row.summary.peak_memory),
        " ".join(part for part in (letters_of(row), f"{row.note}." if row.note else "") if part),
    )


def _cells_named(names: Sequence[str]) -> str:
    return ", ".join(f"`{_code(name)}`" for name in names)


def table(heads: Sequence[str], right: Iterable[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return a table line by line; the columns named in `right` are set to the right."""
    marks = ["---:" if head in set(right) else "---" for head in heads]
    lines = [[escaped(head) for head in heads], marks, *([escaped(cell) for cell in row] for row in rows)]
    return [f"| {' | '.join(line)} |" for line in lines]


def _code(text: str) -> str:
    """Return text for a code span, which knows no escapes: what would end it is replaced."""
    return clean(text).replace("`", "'").replace("|", "\\|")
