"""Why cells did not pass, and what makes others doubtful: a part of the page that needs no script and is printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from envmgr.model.noun import Noun
from envmgr.report.doubts import MarkNote
from envmgr.report.look import signed
from envmgr.report.summary import MatrixView, Note
from envmgr.report.text import clean

_CELLS_NAMED = 12
_MOST_REASONS = 100


class Link(NamedTuple):
    """A cell by the name that is shown and the id that its part of the page has."""

    id: str
    name: str


class Reason(Noun):
    """One reason, and the first of the cells that it holds for; `more` counts the others."""

    number: int
    outcome: str
    observed: str
    text: str
    cells: tuple[Link, ...]
    more: int


class Doubt(Noun):
    """What one letter of the matrix means, and the first of the cells that have it; `more` counts the others."""

    letter: str
    text: str
    cells: tuple[str, ...]
    more: int


class Reasons(Noun):
    """Everything that has a number or a letter in the matrix; `left_out` counts reasons that stand with their cells."""

    reasons: tuple[Reason, ...]
    left_out: int
    unchecked: tuple[Doubt, ...]
    disturbed: tuple[Doubt, ...]


def reasons_of(view: MatrixView) -> Reasons:
    """Return what the numbers and letters of a run's matrix mean."""
    names = {row.cell: row.name for section in view.sections for row in section.rows}
    return Reasons(
        reasons=tuple(_reason(note, names) for note in view.notes[:_MOST_REASONS]),
        left_out=max(0, len(view.notes) - _MOST_REASONS),
        unchecked=_doubts(view.unchecked),
        disturbed=_doubts(view.marks),
    )


def links(ids: Sequence[str], names: Sequence[str]) -> tuple[tuple[Link, ...], int]:
    """Return links to the first of some cells, and how many more there are."""
    found = tuple(Link(ident, clean(name)) for ident, name in zip(ids, names, strict=True))
    return found[:_CELLS_NAMED], max(0, len(found) - _CELLS_NAMED)


def _reason(note: Note, names: Mapping[str, str]) -> Reason:
    cells, more = links(note.ids, [names[ident] for ident in note.ids])
    return Reason(
        number=note.number,
        outcome=signed(note.outcome),
        observed=note.observed.value if note.observed and note.observed is not note.outcome else "",
        text=clean(note.reason),
        cells=cells,
        more=more,
    )


def _doubts(notes: Sequence[MarkNote]) -> tuple[Doubt, ...]:
    return tuple(
        Doubt(
            letter=note.letter,
            text=clean(note.text),
            cells=tuple(clean(name) for name in note.cells[:_CELLS_NAMED]),
            more=max(0, len(note.cells) - _CELLS_NAMED),
        )
        for note in notes
    )
