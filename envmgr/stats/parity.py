"""Do the numbers agree? Outputs of cells compared with those of a reference cell."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from envmgr.model.cell import Cell
from envmgr.model.outcome import Outcome
from envmgr.model.result import CellResult, Output, Parity

Outputs = Mapping[str, Output]


class _Process(NamedTuple):
    """One measured process of a cell: whether it passed by itself, and what came out."""

    passed: bool
    outputs: Outputs


@dataclass(frozen=True)
class _Wanted:
    """One tensor of the reference; what deviations from it are measured in is worked out once."""

    name: str
    output: Output

    @cached_property
    def scale(self) -> float:
        return scale_of(self.output.values)


class _Difference(NamedTuple):
    """How far one tensor is from the reference's; `relative` is in units of the reference's root mean square."""

    name: str
    absolute: float
    relative: float
    off: int
    numbers: int
    first: str = ""
    problem: str = ""

    @property
    def size(self) -> tuple[bool, float]:
        return bool(self.problem), self.relative


def parities_of(cells: Iterable[Cell], results: Iterable[CellResult]) -> dict[str, Parity]:
    """Return for each measured cell how its outputs compare with those of its group's reference cell, by cell id.

    The reference is the passed cell of the lowest rank that gave outputs. It is itself `not-compared`, and so are the
    cells of a group without one; where no cell of a group gave outputs there is nothing to compare and no entry. Of
    several processes of a cell the one that differs most decides.
    """
    measured = _measured_by_cell(results)
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        if cell.id in measured:
            groups.setdefault(cell.group, []).append(cell)
    parities: dict[str, Parity] = {}
    for members in groups.values():
        if any(process.outputs for cell in members for process in measured[cell.id]):
            parities.update(_within_group(members, measured))
    return parities


def _within_group(members: list[Cell], measured: Mapping[str, list[_Process]]) -> Iterator[tuple[str, Parity]]:
    good = (cell for cell in members if all(process.passed and process.outputs for process in measured[cell.id]))
    reference = reference_of(good)
    wanted = [_Wanted(*each) for each in measured[reference.id][0].outputs.items()] if reference else []
    for cell in members:
        if reference is None or cell.id == reference.id:
            yield cell.id, _not_compared(reference)
            continue
        compared = [_compared(process.outputs, wanted, reference, cell.tolerance) for process in measured[cell.id]]
        yield cell.id, max(compared, key=lambda parity: (parity.verdict == "disagrees", parity.max_rel))


def reference_of(cells: Iterable[Cell]) -> Cell | None:
    """Return the cell that the others are compared with: the one of the lowest rank, the first of equals."""
    ranked = [(cell.reference_rank, cell) for cell in cells if cell.reference_rank is not None]
    return min(ranked, key=lambda pair: pair[0])[1] if ranked else None


def compare(found: Outputs, wanted: Outputs, reference: Cell, tolerance: float) -> Parity:
    """Return how far the found outputs are from the wanted ones, tensor by tensor; the worst tensor decides.

    A number is off when it differs by more than `tolerance` times the root mean square of the reference tensor. A
    missing output, another shape and numbers that are not finite disagree.
    """
    return _compared(found, [_Wanted(*each) for each in wanted.items()], reference, tolerance)


def _compared(found: Outputs, wanted: Sequence[_Wanted], reference: Cell, tolerance: float) -> Parity:
    differences = [_difference(found.get(each.name), each, tolerance) for each in wanted]
    if not differences:
        return _not_compared(reference)
    worst = max(differences, key=lambda difference: difference.size)
    off = sum(difference.off for difference in differences)
    return Parity(
        reference=reference.id,
        max_abs=max(difference.absolute for difference in differences),
        max_rel=max(difference.relative for difference in differences),
        share_off=off / max(1, sum(difference.numbers for difference in differences)),
        verdict="disagrees" if off or worst.problem else "agrees",
        worst=_in_words(worst, reference, tolerance) if off or worst.problem else "",
    )


def scale_of(numbers: Sequence[float]) -> float:
    """Return what deviations from a reference tensor are measured in: its root mean square, or 1 if all are zero.

    >>> scale_of([2.0, -2.0]), scale_of([0.0, 0.0]), scale_of([])
    (2.0, 1.0, 1.0)
    """
    finite = [number for number in numbers if math.isfinite(number)]
    scale = math.hypot(*finite) / math.sqrt(len(finite)) if finite else 0.0
    return scale if 0 < scale < math.inf else 1.0


def _difference(found: Output | None, reference: _Wanted, tolerance: float) -> _Difference:
    name, wanted = reference.name, reference.output
    count = len(wanted.values)
    if found is None:
        return _Difference(name, math.inf, math.inf, count, count, problem="is missing")
    if found.shape != wanted.shape:
        problem = f"has shape {_shape(found)} instead of {_shape(wanted)}"
        return _Difference(name, math.inf, math.inf, count, count, problem=problem)
    scale = reference.scale
    limit = tolerance * scale
    apart = [abs(one - other) for one, other in zip(found.values, wanted.values, strict=True)]
    largest = max(apart, default=0.0)
    if largest <= limit and not math.isnan(sum(apart)):
        return _Difference(name, largest, largest / scale, 0, count)
    # A comparison with nan is False, so what is not within the limit is off; inf - inf is nan as well.
    places = [place for place, distance in enumerate(apart) if not distance <= limit]
    largest = max((distance if distance == distance else math.inf for distance in apart), default=0.0)  # noqa: PLR0124 - nan alone differs from itself
    first = _place(places[0], found, wanted) if places else ""
    return _Difference(name, largest, largest / scale, len(places), count, first)


def _place(place: int, found: Output, wanted: Output) -> str:
    numbers = f"{found.values[place]:.6g} instead of {wanted.values[place]:.6g}"
    if len(wanted.shape) <= 1:
        return f"number {place}: {numbers}"
    row, number = divmod(place, math.prod(wanted.shape[1:]))
    return f"row {row}, number {number}: {numbers}"


def _in_words(worst: _Difference, reference: Cell, tolerance: float) -> str:
    subject = f"output {worst.name!r}"
    if worst.problem:
        return f"{subject} disagrees with {reference.name}: it {worst.problem}"
    share = 100 * worst.off / worst.numbers
    return (
        f"{subject} disagrees with {reference.name}: largest relative error {worst.relative:.1e} "
        f"(tolerance {tolerance:.0e}), {share:.3g} % of numbers off, first at {worst.first}"
    )


def _shape(output: Output) -> str:
    return " x ".join(str(side) for side in output.shape) or "of one number"


def _not_compared(reference: Cell | None) -> Parity:
    return Parity(
        reference=reference.id if reference else "", max_abs=0.0, max_rel=0.0, share_off=0.0, verdict="not-compared"
    )


def _measured_by_cell(results: Iterable[CellResult]) -> dict[str, list[_Process]]:
    """Return for each cell its processes that came to a complete report, in the order of rounds."""
    measured: dict[str, list[_Process]] = {}
    for result in sorted(results, key=lambda result: result.round):
        if result.report and result.outcome in {Outcome.PASSED, Outcome.WRONG}:
            process = _Process(result.outcome is Outcome.PASSED, result.report.outputs)
            measured.setdefault(result.cell, []).append(process)
    return measured
