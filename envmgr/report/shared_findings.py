"""The findings of a run, each once with all the cells that it holds for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from envmgr.model.finding import Cause, Finding
from envmgr.model.noun import Noun
from envmgr.model.result import JudgedCell
from envmgr.report.causes import accused, told


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
        first, *others = self.finding.causes
        beginning = _alone(first) if self.note is None else _noted(first, self.note)
        return (beginning, *(_alone(cause) for cause in others))

    @property
    def state(self) -> str:
        """Whether it is proven, and what would prove it; what is lacking here cannot be tried."""
        if self.finding.confirmed:
            return "the fix was seen to work"
        if self.finding.impossible:
            return "from evidence; it cannot be had here"
        return f"from evidence; to prove it: {self.finding.next}" if self.finding.next else "from evidence"


def shared_findings(
    judged: Sequence[JudgedCell], notes: Mapping[str, int], names: Mapping[str, str]
) -> tuple[SharedFinding, ...]:
    """Return the findings of the cells in order.

    `notes` are the numbers of the notes by their reason, `names` the names of the cells by id.
    """
    found: dict[str, list[JudgedCell]] = {}
    for cell in judged:
        if cell.finding is not None:
            found.setdefault(cell.finding.id, []).append(cell)
    return tuple(
        SharedFinding(
            finding=cells[0].finding,
            ids=tuple(cell.cell.id for cell in cells),
            names=tuple(names[cell.cell.id] for cell in cells),
            note=notes.get(cells[0].finding.cause.why),
        )
        for cells in found.values()
        if cells[0].finding is not None
    )


def _alone(cause: Cause) -> str:
    return f"cause {told(cause)}" if cause.kind == "unknown" else told(cause)


def _noted(cause: Cause, note: int) -> str:
    if cause.kind == "unknown":
        return f"cause unknown; all that is known is reason {note}"
    return f"{accused(cause)}, for reason {note}"
