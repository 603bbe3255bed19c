"""The two tables that the original measurements printed, made from a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from statistics import median

from envmgr.model.noun import Noun
from envmgr.model.outcome import Outcome
from envmgr.model.result import JudgedCell, Report
from envmgr.model.summary import Summary
from envmgr.report.summary import baseline_of
from envmgr.report.text import ratio

INFERENCE = "keras_inference"
TRAINING = "torch_mnist"
_TIMED = frozenset({Outcome.PASSED, Outcome.WRONG, Outcome.XPASS, Outcome.XFAIL})


class OriginalTable(Noun):
    """A table of texts: heads and rows; the first column names the row."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    footnote: str = ""


def original_tables(judged: Sequence[JudgedCell], summaries: Mapping[str, Summary]) -> tuple[OriginalTable, ...]:
    """Return the tables that a run has the cells for: inference batch by batch, training epoch by epoch.

    Cells of one runner with other parameters (another model) stand in tables of their own.
    """
    tables = []
    for runner, make in ((INFERENCE, _inference), (TRAINING, _training)):
        groups: dict[str, list[JudgedCell]] = {}
        for cell in judged:
            if cell.cell.runner == runner and _reports(cell):
                groups.setdefault(repr(sorted(cell.cell.parameters.items())), []).append(cell)
        tables += [make(cells, summaries) for cells in groups.values()]
    return tuple(tables)


def cumulative_seconds(cell: JudgedCell) -> tuple[float, ...]:
    """Return the seconds that had passed after each batch: as the runner told them, else summed.

    Of several processes it is the median.
    """
    told = [_cumulative(report) for report in _reports(cell)]
    return tuple(median(at_once) for at_once in zip(*told, strict=False))


def epoch_seconds(cell: JudgedCell) -> tuple[float, ...]:
    """Return the seconds of each training epoch, first call and warm-up included; over processes, the median."""
    epochs = cell.cell.parameters.get("epochs", 1)
    told = [_epochs(report, epochs if isinstance(epochs, int) else 1) for report in _reports(cell)]
    return tuple(median(at_once) for at_once in zip(*told, strict=False))


def _inference(cells: list[JudgedCell], summaries: Mapping[str, Summary]) -> OriginalTable:
    times = [cumulative_seconds(cell) for cell in cells]
    batches = max(len(one) for one in times)
    rows = [(f"{number + 1}", *(_at(one, number) for one in times)) for number in range(batches)]
    totals = [one[-1] if one else None for one in times]
    model, size = (cells[0].cell.parameters.get(name, "?") for name in ("model", "batch-size"))
    return OriginalTable(
        title=f"{str(model).upper()}, batches of {size}: cumulative seconds",
        heads=("batch", *(f"{cell.cell.label} {cell.cell.device_name}" for cell in cells)),
        rows=(*rows, ("vs CPU", *_ratios(cells, totals, summaries))),
        footnote=_footnote(cells, summaries),
    )


def _training(cells: list[JudgedCell], summaries: Mapping[str, Summary]) -> OriginalTable:
    times = [epoch_seconds(cell) for cell in cells]
    means = [sum(one) / len(one) if one else None for one in times]
    ratios = _ratios(cells, means, summaries)
    return OriginalTable(
        title="MNIST training: seconds an epoch",
        heads=("version set and device", "epochs", "images", "seconds an epoch", "vs CPU", "accuracy"),
        rows=tuple(
            (
                f"{cell.cell.label} {cell.cell.device_name}",
                f"{len(one)}",
                _images(cell, len(one)),
                "" if mean is None else f"{mean:.2f}",
                factor,
                _accuracy(cell),
            )
            for cell, one, mean, factor in zip(cells, times, means, ratios, strict=True)
        ),
        footnote=_footnote(cells, summaries),
    )


def _ratios(cells: list[JudgedCell], times: list[float | None], summaries: Mapping[str, Summary]) -> tuple[str, ...]:
    """Return how many times as fast as the processor each cell is; numbers that are wrong have no speed."""
    baseline = baseline_of(cells, summaries)
    base = next((time for cell, time in zip(cells, times, strict=True) if cell is baseline), None)
    return tuple(
        cell.observed.value
        if cell.observed and cell.observed is not Outcome.PASSED
        else ratio(base / time if base and time else None)
        for cell, time in zip(cells, times, strict=True)
    )


def _footnote(cells: list[JudgedCell], summaries: Mapping[str, Summary]) -> str:
    baseline = baseline_of(cells, summaries)
    if baseline is None:
        return "no CPU cell passed, so there is no ratio"
    return f"vs CPU: times as fast as {baseline.cell.label} {baseline.cell.device_name}"


def _reports(cell: JudgedCell) -> list[Report]:
    if cell.outcome not in _TIMED:
        return []
    return [result.report for result in cell.results if result.report and result.report.samples]


def _cumulative(report: Report) -> list[float]:
    told = report.metrics.get("cumulative_seconds")
    return list(told) if isinstance(told, tuple) and told else list(accumulate(report.samples))


def _epochs(report: Report, epochs: int) -> list[float]:
    batches = [*(() if report.first_call is None else (report.first_call,)), *report.warmup, *report.samples]
    size = len(batches) // max(1, epochs)
    return [sum(batches[start : start + size]) for start in range(0, size * epochs, size)] if size else []


def _images(cell: JudgedCell, epochs: int) -> str:
    """Return how many images an epoch had: of synthetic digits there are fewer than of MNIST's."""
    for report in _reports(cell):
        if epochs and report.items_per_sample:
            batches = (report.first_call is not None) + len(report.warmup) + len(report.samples)
            return f"{batches // epochs * report.items_per_sample:.0f}"
    return ""


def _at(times: tuple[float, ...], place: int) -> str:
    return f"{times[place]:.3f}" if place < len(times) else ""


def _accuracy(cell: JudgedCell) -> str:
    found = [report.metrics.get("accuracy") for report in _reports(cell)]
    numbers = [number for number in found if isinstance(number, float)]
    return f"{100 * median(numbers):.1f} %" if numbers else ""
