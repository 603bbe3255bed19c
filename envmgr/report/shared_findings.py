"""The findings of a run, each once with all the cells that it holds for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from envmgr.model.finding import Finding
from envmgr.model.noun import Noun
from envmgr.model.result import JudgedCell


class SharedFinding(Noun):
    """One finding, the ids and names of its cells, and the number of the note that says the same as its first cause."""

    finding: Finding
    ids: tuple[str, ...]
    names: tuple[str, ...]
    note: int | None = None

    @property
    def cells(self) -> tuple[str, ...]:
        """The names of its cells, each once."""
        return tuple(dict.fromkeys(self.names))

    @property
    def causes(self) -> tuple[str, ...]:
        """The causes in a line each: what is to blame, and why, unless a note says it already."""
        told = [f"{cause.kind} {cause.name}".strip() for cause in self.finding.causes]
        whys = [cause.why for cause in self.finding.causes]
        if self.note is not None:
            whys[0] = f"see {self.note}"
        return tuple(f"{who}: {why}" for who, why in zip(told, whys, strict=True))

    @property
    def state(self) -> str:
        """Whether it is proven, and what would prove it."""
        if self.finding.confirmed:
            return "the fix was seen to work"
        return f"from evidence; to prove it: {self.finding.next}" if self.finding.next else "from evidence"


def shared_findings(judged: Sequence[JudgedCell], notes: Mapping[str, int]) -> tuple[SharedFinding, ...]:
    """Return the findings of the cells in order; `notes` are the numbers of the notes by their reason."""
    found: dict[str, list[JudgedCell]] = {}
    for cell in judged:
        if cell.finding is not None:
            found.setdefault(cell.finding.id, []).append(cell)
    return tuple(
        SharedFinding(
            finding=cells[0].finding,
            ids=tuple(cell.cell.id for cell in cells),
            names=tuple(cell.cell.name for cell in cells),
            note=notes.get(cells[0].finding.cause.why),
        )
        for cells in found.values()
        if cells[0].finding is not None
    )
