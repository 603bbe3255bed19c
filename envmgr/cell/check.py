"""Whether a runner's report can be read, is of this cell, and holds believable numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from enum import Enum, auto

from pydantic import ValidationError

from envmgr.cell.identity import same_device
from envmgr.model.cell import Cell
from envmgr.model.result import Output, Report


class Doubt(Enum):
    """What a doubtful report is doubtful about: where it was measured, or what came out."""

    BACKEND = auto()
    CHECK = auto()


def parse_report(text: str, cell: Cell) -> Report | str:
    """Return the report of the cell, or in one line why the text is none."""
    try:
        report = Report.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        return f"the report cannot be read: {place + ': ' if place else ''}{first['msg']}"
    if report.cell != cell.id:
        return f"the report is of another cell: wanted {cell.id!r}, found {report.cell[:80]!r}"
    for name, output in report.outputs.items():
        count = len(output.values)
        if math.prod(output.shape) != count or any(side < 0 for side in output.shape):
            return f"the report is at odds with itself: output {name!r} has shape {output.shape} and {count} numbers"
    times = (*report.samples, *report.warmup, *(() if report.first_call is None else (report.first_call,)))
    if not all(math.isfinite(seconds) and seconds >= 0 for seconds in times):
        return "the report holds a time that is none: wanted seconds that are finite and not negative"
    return report


def doubts_about(report: Report, cell: Cell) -> list[tuple[Doubt, str]]:
    """Return every reason not to take a complete report for a good measurement."""
    return [
        *((Doubt.BACKEND, reason) for reason in _wrong_place(report, cell)),
        *((Doubt.CHECK, reason) for reason in _wrong_numbers(report)),
    ]


def _wrong_place(report: Report, cell: Cell) -> Iterator[str]:
    if cell.backend and report.backend and report.backend != cell.backend:
        yield f"another backend is active than asked for: wanted {cell.backend}, found {report.backend}"
    if cell.device_name and report.device and not same_device(cell.device_name, report.device):
        yield f"another device was used than asked for: wanted {cell.device_name}, found {report.device}"


def _wrong_numbers(report: Report) -> Iterator[str]:
    for name, output in report.outputs.items():
        yield from _not_finite(f"output {name!r}", output.values, _row_length(output))
    for name, metric in report.metrics.items():
        yield from _not_finite(f"metric {name!r}", metric if isinstance(metric, tuple) else (metric,), None)
    for check in report.checks:
        if not check.passed:
            yield f"check {check.name!r} failed: wanted {check.wanted}, found {check.found}"


def _not_finite(subject: str, numbers: Sequence[float], row_length: int | None) -> Iterator[str]:
    places = [place for place, number in enumerate(numbers) if not math.isfinite(number)]
    if places:
        first = f"number {places[0]}" if row_length is None else f"row {places[0] // row_length}"
        yield f"{subject} is not finite: {len(places)} of {len(numbers)} numbers (first at {first})"


def _row_length(output: Output) -> int | None:
    """Return how many numbers a row (the first dimension) holds; None where there are no rows."""
    return math.prod(output.shape[1:]) if len(output.shape) > 1 else None
