"""Questions to runs: which one, which cell, what is done and what is left; pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from envmgr.errors import StoreError
from envmgr.model.cell import Cell, Plan
from envmgr.model.result import JudgedCell, Run

LATEST = "latest"
WARM_UP = -1
"""The round of a process that is discarded."""
_SHOWN = 8


def split_reference(text: str) -> tuple[str, str]:
    """Return run and cell of `RUN#CELL`; without a run the latest is meant, without a cell the cell is empty.

    >>> split_reference("20261130T120000Z-abc#3f9"), split_reference("#3f9"), split_reference("3f9")
    (('20261130T120000Z-abc', '3f9'), ('latest', '3f9'), ('latest', '3f9'))
    """
    run, mark, cell = text.partition("#")
    return (run or LATEST, cell) if mark else (LATEST, text)


def find_run(names: Sequence[str], text: str = LATEST) -> str:
    """Return the one run that the text names: exactly, by the beginning of its id, or as `latest`."""
    if not names:
        raise StoreError("there is no run yet", "", "make one: envmgr matrix run")
    if text == LATEST:
        return max(names)
    if text in names:
        return text
    found = [name for name in names if name.startswith(text)]
    if len(found) == 1:
        return found[0]
    listed = ", ".join(sorted(found or names)[-_SHOWN:])
    if found:
        raise StoreError(f"{text!r} names several runs", f"wanted one, found {len(found)}", f"they are: {listed}")
    raise StoreError(f"there is no run {text!r}", "", f"the latest are: {listed}")


def find_cell(plan: Plan, text: str) -> Cell:
    """Return the one cell of a plan that the text names, by the beginning of its id or by its readable name.

    A readable name may leave out its end or the variant: `keras-jax`, `plaidml-0.7.0/keras_inference`.
    """
    exact = [cell for cell in plan.cells if text in {cell.id, cell.name}]
    found = exact or [cell for cell in plan.cells if text and _is_named(cell, text)]
    if len(found) == 1:
        return found[0]
    listed = ", ".join(f"{cell.id} {cell.name}" for cell in (found or plan.cells)[:_SHOWN])
    if found:
        why = f"wanted one, found {len(found)}"
        raise StoreError(f"{text!r} names several cells", why, f"name one by its id: {listed}")
    raise StoreError(f"there is no cell {text!r} in this run", "", f"its cells are: {listed or 'none'}")


def done(run: Run) -> frozenset[tuple[str, int]]:
    """Return (cell id, round) of every process whose result is there."""
    return frozenset((result.cell, result.round) for result in run.results)


def left(run: Run) -> tuple[tuple[Cell, int], ...]:
    """Return what a resumed run still has to measure, round by round, each round in the order of the plan."""
    finished = done(run)
    plan = run.record.plan
    return tuple(
        (cell, round_number)
        for round_number in range(plan.processes)
        for cell in plan.cells
        if cell.refusal is None and (cell.id, round_number) not in finished
    )


def cold(run: Run) -> tuple[Cell, ...]:
    """Return the cells of which nothing is measured yet and several processes will be.

    One more process of each goes before, and is discarded: it pays for caches that the others find filled.
    """
    begun = {cell for cell, _ in done(run)}
    plan = run.record.plan
    return tuple(cell for cell in plan.cells if plan.processes > 1 and cell.refusal is None and cell.id not in begun)


def failed(judged: Iterable[JudgedCell]) -> tuple[Cell, ...]:
    """Return the cells that fail the matrix: what `--failed` measures again."""
    return tuple(verdict.cell for verdict in judged if verdict.unexpected)


def _is_named(cell: Cell, text: str) -> bool:
    without_variant = "/".join(part for part in (cell.manifest, cell.runner, cell.device_name) if part)
    names = (cell.name, without_variant)
    return cell.id.startswith(text) or any(name == text or name.startswith(f"{text}/") for name in names)
