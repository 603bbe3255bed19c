"""The charts of the page: times with their intervals, first call against steady state; places worked out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from envmgr.model.noun import Noun
from envmgr.model.outcome import Outcome
from envmgr.report.axis import Axis, Tick, axis_for
from envmgr.report.doubts import GOOD
from envmgr.report.look import signed
from envmgr.report.summary import Row
from envmgr.report.text import clean, parameters, seconds

_MOST_BARS = 60
_MOST_POINTS = 400


class Bar(Noun):
    """One bar of a chart; places in per cent of the axis."""

    id: str
    name: str
    text: str
    kind: str
    end: float
    low: float | None = None
    high: float | None = None


class Bars(Noun):
    """The chart of one runner: the median time of each cell with its interval, on a logarithmic axis."""

    title: str
    parameters: str
    ticks: tuple[Tick, ...]
    bars: tuple[Bar, ...]
    left_out: int


class Dot(Noun):
    """One cell in the picture of first call against steady state; places in per cent."""

    id: str
    name: str
    kind: str
    across: float
    up: float


class Scatter(Noun):
    """First call against steady state; `equal` is the line on which both are the same, from (across, up) to another.

    None where the two axes have no time in common.
    """

    ticks_across: tuple[Tick, ...]
    ticks_up: tuple[Tick, ...]
    dots: tuple[Dot, ...]
    equal: tuple[tuple[float, float], tuple[float, float]] | None


def bars_of(rows: Sequence[Row], changed: Mapping[str, Any]) -> Bars | None:
    """Return the chart of one section, the shortest times first; None where nothing was timed.

    What did not pass stands below all that did: a wrong answer is never fast.
    """
    timed = sorted(
        (row for row in rows if row.summary.median), key=lambda row: (row.outcome not in GOOD, row.summary.median)
    )
    if not timed:
        return None
    shown = timed[:_MOST_BARS]
    ends = [value for row in shown for value in (row.summary.median or 0.0, *(row.summary.interval or ()))]
    axis = axis_for(ends)
    return Bars(
        title=clean(rows[0].runner),
        parameters=parameters(dict(changed)),
        ticks=axis.ticks(),
        bars=tuple(_bar(row, axis) for row in shown),
        left_out=len(timed) - len(shown),
    )


def _bar(row: Row, axis: Axis) -> Bar:
    interval = row.summary.interval
    text = seconds(row.summary.median)
    if interval:
        text += f" ({seconds(interval[0])} to {seconds(interval[1])})"
    return Bar(
        id=row.cell,
        name=clean(f"{row.label} {row.device}"),
        text=text if row.outcome is Outcome.PASSED else f"{signed(row.outcome)}, {text}",
        kind=row.outcome.value,
        end=axis.place(row.summary.median or axis.low),
        low=axis.place(interval[0]) if interval else None,
        high=axis.place(interval[1]) if interval else None,
    )


def scatter_of(rows: Sequence[Row]) -> Scatter | None:
    """Return first calls against medians; None where nothing was timed."""
    timed = [row for row in rows if row.summary.median and row.summary.first_call][:_MOST_POINTS]
    if not timed:
        return None
    across = axis_for(row.summary.median or 0.0 for row in timed)
    up = axis_for(row.summary.first_call or 0.0 for row in timed)
    return Scatter(
        ticks_across=across.ticks(),
        ticks_up=up.ticks(),
        equal=_equal(across, up),
        dots=tuple(
            Dot(
                id=row.cell,
                name=clean(
                    f"{row.name}: first call {seconds(row.summary.first_call)}, then {seconds(row.summary.median)}"
                ),
                kind=row.outcome.value,
                across=across.place(row.summary.median or 0.0),
                up=up.place(row.summary.first_call or 0.0),
            )
            for row in timed
        ),
    )


def _equal(across: Axis, up: Axis) -> tuple[tuple[float, float], tuple[float, float]] | None:
    low, high = max(across.low, up.low), min(across.high, up.high)
    if low >= high:
        return None
    return (across.place(low), up.place(low)), (across.place(high), up.place(high))
