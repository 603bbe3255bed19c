"""What makes a measurement doubtful: numbers compared with nothing, a machine that was not at rest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from envmgr.model.noun import Noun
from envmgr.model.outcome import Outcome
from envmgr.model.result import JudgedCell
from envmgr.model.summary import Mark, MarkKind

Numbers = Literal["", "reference", "agrees", "disagrees", "unchecked"]

UNCHECKED = "n"
"""The letter of cells whose numbers were compared with nothing."""
GOOD = frozenset({Outcome.PASSED, Outcome.XPASS})
LETTERS: dict[MarkKind, str] = {
    "busy": "b", "stolen": "v", "throttled": "t", "memory": "m", "unsteady": "u", "rebuilt": "e",
}  # fmt: skip


class MarkNote(Noun):
    """One kind of doubt about what was measured, at its worst, and the cells that it holds for."""

    letter: str
    text: str
    cells: tuple[str, ...]


def numbers_of(cell: JudgedCell) -> Numbers:
    """Return what a cell's outputs were compared with and how they compare; empty where no cell has outputs."""
    if cell.parity is None:
        return ""
    if cell.parity.verdict != "not-compared":
        return cell.parity.verdict
    return "reference" if cell.parity.reference == cell.cell.id else "unchecked"


def is_unchecked(cell: JudgedCell) -> bool:
    """Tell whether a cell passed though its numbers were compared with nothing."""
    return cell.outcome in GOOD and numbers_of(cell) == "unchecked"


def unchecked(judged: Sequence[JudgedCell], names: Mapping[str, str]) -> tuple[MarkNote, ...]:
    """Return the cells that passed and were compared with nothing, by the reason for which there was no reference.

    `names` is by cell id.
    """
    told = {cell.cell.group for cell in judged if is_unchecked(cell)}
    groups: dict[str, list[JudgedCell]] = {}
    for cell in judged:
        if cell.cell.group in told:
            groups.setdefault(cell.cell.group, []).append(cell)
    found: dict[str, list[str]] = {}
    for cells in groups.values():
        alone = [names[cell.cell.id] for cell in cells if is_unchecked(cell)]
        found.setdefault(_no_reference(cells), []).extend(alone)
    return tuple(
        MarkNote(letter=UNCHECKED, text=why, cells=tuple(dict.fromkeys(names))) for why, names in found.items()
    )


def _no_reference(group: Sequence[JudgedCell]) -> str:
    trusted = [cell for cell in group if cell.cell.reference_rank is not None]
    if not trusted:
        return "no cell that the matrix trusts as a reference is among those measured"
    states = (f"{cell.cell.name} is {cell.observed.value if cell.observed else 'not measured yet'}" for cell in trusted)
    return f"no reference came out well: {', '.join(states)}"


def disturbed(marked: Iterable[tuple[str, Sequence[Mark]]]) -> tuple[MarkNote, ...]:
    """Return what disturbed measurements, each kind once: the text of the one with the most processes under it.

    `marked` has the name of each cell with its marks.
    """
    found: dict[MarkKind, list[tuple[int, str, str]]] = {}
    for name, marks in marked:
        for mark in marks:
            found.setdefault(mark.kind, []).append((mark.processes, mark.text, name))
    return tuple(_at_its_worst(kind, each) for kind, each in found.items())


def letters(marks: Iterable[Mark]) -> str:
    """Return the letter of each kind of mark, once."""
    return "".join(dict.fromkeys(LETTERS[mark.kind] for mark in marks))


def _at_its_worst(kind: MarkKind, each: Sequence[tuple[int, str, str]]) -> MarkNote:
    cells = tuple(dict.fromkeys(name for _, _, name in each))
    worst = max(each)[1]
    text = worst if len(each) == 1 else f"{worst}; {len(each)} cells"
    return MarkNote(letter=LETTERS[kind], text=text, cells=cells)
