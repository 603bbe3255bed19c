"""The matrix as CSV: a line a cell, raw seconds and bytes, for spreadsheets and data frames."""

from __future__ import annotations

import csv
import io
import json

from envmgr.model.result import JudgedCell
from envmgr.report.summary import MatrixView, Row

_HEADS = (
    "run",
    "cell",
    "host",
    "manifest",
    "variant",
    "runner",
    "device",
    "api",
    "physical",
    "python",
    "parameters",
    "outcome",
    "observed",
    "unexpected",
    "phase",
    "reason",
    "first_call",
    "median",
    "low",
    "high",
    "spread",
    "minimum",
    "maximum",
    "speed",
    "throughput",
    "processes",
    "samples",
    "peak_memory",
    "parity",
    "largest_relative_error",
    "disturbed",
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def text(view: MatrixView, judged: dict[str, JudgedCell]) -> str:
    """Return a head line and a line a cell; `judged` is by cell id. Text that a spreadsheet would run is quoted."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_HEADS)
    for section in view.sections:
        for row in section.rows:
            writer.writerow([_harmless(value) for value in _values(view, row, judged[row.cell])])
    return out.getvalue()


def _values(view: MatrixView, row: Row, judged: JudgedCell) -> list[object]:
    cell, summary = judged.cell, row.summary
    low, high = summary.interval or (None, None)
    return [
        view.run,
        cell.id,
        cell.host,
        cell.manifest,
        cell.variant,
        cell.runner,
        cell.device_name,
        cell.api,
        cell.device.physical if cell.device else "",
        cell.python,
        json.dumps(cell.parameters, sort_keys=True, default=str),
        row.outcome.value,
        row.observed.value if row.observed else "",
        "yes" if row.unexpected else "no",
        judged.phase.value if judged.phase else "",
        judged.reason,
        summary.first_call,
        summary.median,
        low,
        high,
        summary.spread,
        summary.minimum,
        summary.maximum,
        row.speed,
        summary.throughput,
        summary.processes,
        summary.samples,
        summary.peak_memory,
        row.numbers,
        row.parity.max_rel if row.parity and row.numbers in {"agrees", "disagrees"} else None,
        row.marks,
    ]


def _harmless(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
