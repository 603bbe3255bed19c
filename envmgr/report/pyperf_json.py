"""The samples in pyperf's JSON, so that its tools (compare_to, stats, hist …) read them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from envmgr.model.outcome import Outcome
from envmgr.model.result import CellResult, JudgedCell, Run
from envmgr.report.text import parameters

_FORMAT = "1.0"


def pyperf(run: Run, judged: Sequence[JudgedCell]) -> str:
    """Return a suite with a benchmark a passed cell and a pyperf run a process; a wrong answer has no speed."""
    several = len({each.cell.host for each in judged}) > 1
    benchmarks = [
        _benchmark(run, each, several_hosts=several)
        for each in judged
        if each.observed is Outcome.PASSED and _timed(each)
    ]
    return json.dumps({"version": _FORMAT, "metadata": {}, "benchmarks": benchmarks}, allow_nan=False) + "\n"


def _timed(judged: JudgedCell) -> list[CellResult]:
    return [
        result for result in judged.results if result.report and any(sample > 0 for sample in result.report.samples)
    ]


def _benchmark(run: Run, judged: JudgedCell, *, several_hosts: bool) -> dict[str, Any]:
    cell = judged.cell
    name = " ".join(part for part in (cell.name, parameters(cell.parameters)) if part)
    metadata = {
        "name": f"{cell.host} {name}" if several_hosts else name,
        "unit": "second",
        "loops": 1,
        "hostname": cell.host,
        "description": f"run {run.record.id}, cell {cell.id}",
    }
    return {"metadata": metadata, "runs": [_run(result) for result in _timed(judged)]}


def _run(result: CellResult) -> dict[str, Any]:
    report, conditions = result.report, result.conditions
    if report is None:
        return {}
    first = () if report.first_call is None else (report.first_call,)
    metadata: dict[str, Any] = {"duration": result.elapsed} if result.elapsed > 0 else {}
    if result.started_at:
        metadata["date"] = f"{datetime.fromisoformat(result.started_at).astimezone(UTC):%Y-%m-%d %H:%M:%S.%f}"
    if result.peak_memory:
        metadata["mem_max_rss"] = result.peak_memory
    if conditions and conditions.load_before is not None:
        metadata["load_avg_1min"] = conditions.load_before
    return {
        "metadata": metadata,
        "warmups": [[1, seconds] for seconds in (*first, *report.warmup) if seconds > 0],
        "values": [sample for sample in report.samples if sample > 0],
    }
