"""What the page's script shows of one cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from envmgr.model.history import Point
from envmgr.model.result import JudgedCell, write_number
from envmgr.report.look import signed
from envmgr.report.page.machine import machine_of
from envmgr.report.summary import Row, error_of, letters_of
from envmgr.report.text import amount, clean, parameters

_DIGITS = 5


def cell_data(row: Row, judged: JudgedCell, reason: str, history: Sequence[Point]) -> dict[str, Any]:
    """Return what is told of one cell, without what there is nothing to tell of; `reason` is that of its note."""
    cell, summary = judged.cell, row.summary
    reports = [result.report for result in judged.results if result.report]
    told: dict[str, Any] = {
        "id": row.cell,
        "name": clean(row.name),
        "label": clean(row.label),
        "host": clean(row.host),
        "device": clean(row.device),
        "physical": clean(cell.device.physical) if cell.device else "",
        "outcome": row.outcome.value,
        "sign": signed(row.outcome).split(" ", 1)[0],
        "observed": row.observed.value if row.observed and row.observed is not row.outcome else "",
        "unexpected": row.unexpected,
        "phase": judged.phase.value if judged.phase else "",
        "reason": clean(reason or judged.reason),
        "parameters": parameters(cell.parameters),
        "median": _short(summary.median),
        "interval": [_short(value) for value in summary.interval] if summary.interval else None,
        "first": _short(summary.first_call),
        "speed": _short(row.speed),
        "spread": _short(summary.spread),
        "memory": amount(summary.peak_memory),
        "parity": clean(row.parity.worst) if row.parity and row.parity.worst else "",
        "error": error_of(row),
        "numbers": row.numbers,
        "marks": letters_of(row),
        "doubts": "; ".join(clean(mark.text) for mark in summary.marks),
        "machine": machine_of(judged.results),
        "samples": [[_short(sample) for sample in report.samples] for report in reports],
        "notes": list(dict.fromkeys(clean(note) for report in reports for note in report.notes)),
        "history": [_point_data(point) for point in history],
    }
    return {name: value for name, value in told.items() if value is not False and value not in (None, "", [])}


def _point_data(point: Point) -> dict[str, Any]:
    told = {
        "run": point.run,
        "outcome": point.outcome.value,
        "median": _short(point.median),
        "interval": [_short(value) for value in point.interval] if point.interval else None,
        "change": point.change.value if point.change else None,
        "ratio": _short(point.ratio),
    }
    return {name: value for name, value in told.items() if value is not None}


def _short(value: float | None) -> float | str | None:
    """Return a number without the digits that nobody measured, as strict JSON can hold it."""
    return None if value is None else write_number(float(f"{value:.{_DIGITS}g}"))
