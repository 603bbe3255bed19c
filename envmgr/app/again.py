"""What failed in an earlier run and is to be measured again."""

from __future__ import annotations

from dataclasses import dataclass

from envmgr.app.judging import judged_cells
from envmgr.app.runs import stored_run
from envmgr.app.workplace import Workplace
from envmgr.cell.spread import Key, key_of
from envmgr.errors import NothingSelectedError
from envmgr.model.cell import Cell, Plan
from envmgr.store.query import failed


@dataclass(frozen=True, slots=True)
class Again:
    """What failed in an earlier run: cells, and (version set, runner) pairs whose env could not be built then.

    The cells of such a pair were not known before: nobody could ask the backend for its devices. On which host a cell
    failed does not matter.
    """

    cells: frozenset[Key]
    unbuilt: frozenset[tuple[str, str]]

    def holds(self, cell: Cell) -> bool:
        """Tell whether a cell is to be measured again."""
        return key_of(cell) in self.cells or (cell.label, cell.runner) in self.unbuilt

    def of(self, plan: Plan) -> Plan:
        """Return those cells of a plan; raises NothingSelectedError for none."""
        cells = tuple(cell for cell in plan.cells if self.holds(cell))
        if not cells:
            raise NothingSelectedError(
                "none of the cells that failed is in this selection",
                f"matrix {plan.matrix!r} holds others",
                "envmgr matrix run",
            )
        return plan.model_copy(update={"cells": cells})


def failed_before(workplace: Workplace) -> Again:
    """Return what failed in the latest run; raises NothingSelectedError when nothing did."""
    run = stored_run(workplace)
    cells = failed(judged_cells(run))
    if not cells:
        raise NothingSelectedError(
            f"no cell of run {run.record.id} failed", "--failed measures those alone", "envmgr matrix run"
        )
    return Again(
        cells=frozenset(key_of(cell) for cell in cells),
        unbuilt=frozenset((cell.label, cell.runner) for cell in cells if cell.refusal is not None),
    )
