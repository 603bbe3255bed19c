"""A few robust numbers for what the processes of one cell measured."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate
from statistics import median

from envmgr.model.outcome import Outcome
from envmgr.model.result import CellResult, Report
from envmgr.model.summary import Summary
from envmgr.stats.marks import marks_of
from envmgr.stats.robust import median_interval

_NOTHING = Summary(processes=0, samples=0)


def summarise(results: Iterable[CellResult]) -> Summary:
    """Return the summary of one cell's processes; those that came to no measurement take no part."""
    measured = [result for result in results if result.report and result.outcome in {Outcome.PASSED, Outcome.WRONG}]
    reports = [result.report for result in measured if result.report]
    if not reports:
        return _NOTHING
    first_calls = [report.first_call for report in reports if report.first_call is not None]
    memory = [result.peak_memory for result in measured if result.peak_memory is not None]
    samples = [sample for report in reports for sample in report.samples]
    by_round = process_medians(measured)
    middle = median(by_round.values()) if by_round else None
    return Summary(
        processes=len(reports),
        samples=len(samples),
        first_call=median(first_calls) if first_calls else None,
        median=middle,
        interval=median_interval(tuple(by_round.values())),
        spread=None if middle is None else median([abs(sample - middle) for sample in samples]),
        minimum=min(samples, default=None),
        maximum=max(samples, default=None),
        throughput=_throughput(reports, middle),
        cumulative=_cumulative(reports),
        peak_memory=max(memory, default=None),
        by_round=by_round,
        marks=marks_of(measured),
    )


def process_medians(results: Iterable[CellResult]) -> dict[int, float]:
    """Return for each round the median of the samples that its process measured: one value a process.

    Samples inside one process are not independent of each other; processes are what comparisons count.
    """
    return {
        result.round: median(result.report.samples) for result in results if result.report and result.report.samples
    }


def _throughput(reports: list[Report], seconds: float | None) -> float | None:
    items = [report.items_per_sample for report in reports if report.items_per_sample is not None]
    return median(items) / seconds if items and seconds else None


def _cumulative(reports: list[Report]) -> tuple[float, ...]:
    """Return the running sum of the samples, the median over the processes, as far as all of them go."""
    sums = [tuple(accumulate(report.samples)) for report in reports if report.samples]
    if len(sums) == 1:
        return sums[0]
    return tuple(median(at_once) for at_once in zip(*sums, strict=False)) if sums else ()
