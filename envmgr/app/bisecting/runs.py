"""Points asked by a runner: by what becomes of it, or by a metric that it measures."""

from __future__ import annotations

from statistics import median
from typing import Any

from envmgr.app.bisecting.bisect import Likely
from envmgr.app.bisecting.cells import PointCells
from envmgr.app.bisecting.lines import Spot
from envmgr.app.bisecting.standing import Bounds, Standing
from envmgr.app.watching import numbers_apart
from envmgr.errors import NothingSelectedError, UsageError
from envmgr.model.bisection import Trial
from envmgr.model.comparison import Verdict
from envmgr.model.outcome import NEUTRAL, Outcome
from envmgr.model.result import CellResult, JudgedCell
from envmgr.stats.sides import apart, is_on_good_side

_PATIENCE = 2
_UNTOLD = {*NEUTRAL, Outcome.BUILD_FAILED, Outcome.GONE}


class OutcomeOracle:
    """Bad is one outcome, or any that is not passed; numbers that disagree with the good end's are wrong."""

    repeats = True

    def __init__(self, cells: PointCells, outcome: Outcome | None) -> None:
        self._cells = cells
        self._outcome = outcome

    @property
    def criterion(self) -> str:
        """What makes a point bad, in words."""
        return f"outcome of {self._cells.wishes.runner}: {self._outcome or 'not passed'}"

    def stand(self, spot: Spot, names: tuple[str, ...]) -> Standing:
        """Build the environment of a point."""
        return self._cells.stand(spot, names)

    def expect(self, _likely: Likely) -> None:
        """Begin nothing ahead: what is measured is measured alone."""

    def ask(self, spot: Spot, standing: Standing, bounds: Bounds) -> Trial:
        """Measure the runner once."""
        try:
            run, by_label = self._cells.measure([spot])
        except NothingSelectedError as error:
            return _unmeasured(spot, standing, error)
        judged = by_label[spot.point.label]
        trial = _trial(spot, standing, judged, run.record.id)
        observed, wanted = judged.observed, self._outcome
        told = f"{observed}: {judged.reason}"
        if observed is Outcome.PASSED:
            told = self._numbers(judged, bounds.good)
            bad = bool(told) and wanted in {None, Outcome.WRONG}
            return trial.model_copy(update={"verdict": "bad" if bad else "good", "reason": told if bad else ""})
        if observed in _UNTOLD or (wanted is not None and observed is not wanted):
            return trial.model_copy(update={"reason": told})
        return trial.model_copy(update={"verdict": "bad", "reason": told})

    def _numbers(self, judged: JudgedCell, good: Trial | None) -> str:
        """Return by how much the numbers differ from those of the good end, empty where they agree."""
        then = self._cells.earlier(good.run, good.point.label) if good and good.run else None
        return "; ".join(numbers_apart([(then, judged)])) if then else ""


class MetricOracle:
    """Bad is what lies with the bad end: each point is measured together with the ends, round by round."""

    repeats = False

    def __init__(self, cells: PointCells, metric: str) -> None:
        self._cells = cells
        self._metric = metric

    @property
    def criterion(self) -> str:
        """What makes a point bad, in words."""
        return f"{self._metric} of {self._cells.wishes.runner}"

    def stand(self, spot: Spot, names: tuple[str, ...]) -> Standing:
        """Build the environment of a point."""
        return self._cells.stand(spot, names)

    def expect(self, _likely: Likely) -> None:
        """Begin nothing ahead: what is measured is measured alone."""

    def ask(self, spot: Spot, standing: Standing, bounds: Bounds) -> Trial:
        """Measure the metric beside the ends; where the samples do not tell, as many processes again, twice at most."""
        ends = [end for end in (bounds.good_spot, bounds.bad_spot) if end is not None and end is not spot]
        results: dict[str, list[CellResult]] = {each.point.label: [] for each in (*ends, spot)}
        trial = Trial(point=spot.point, verdict="skipped")
        for _ in range(_PATIENCE + 1):
            try:
                run, by_label = self._cells.measure([*ends, spot])
            except NothingSelectedError as error:
                return _unmeasured(spot, standing, error)
            trial = _trial(spot, standing, by_label[spot.point.label], run.record.id)
            if by_label[spot.point.label].observed is not Outcome.PASSED:
                return trial
            unwell = next((end for end in ends if by_label[end.point.label].observed is not Outcome.PASSED), None)
            if unwell is not None:
                told = by_label[unwell.point.label]
                reason = f"{unwell.point.label} did not pass beside it: {told.observed}: {told.reason}"
                return trial.model_copy(update={"reason": reason})
            for label, judged in by_label.items():
                results[label] += judged.results
            samples = [self._samples(results[each.point.label]) for each in (*ends, spot)]
            trial = trial.model_copy(update=_figures(samples))
            side = _side([_rounds(each) for each in samples])
            if side is not None:
                return trial.model_copy(update={"verdict": "good" if side else "bad", "reason": ""})
        return trial.model_copy(update={"reason": "its samples lie on neither side beyond doubt"})

    def _samples(self, results: list[CellResult]) -> tuple[tuple[float, ...], ...]:
        """Return the metric's values, one tuple a process; raises UsageError where there is none at all."""
        samples = tuple(_values(result, self._metric) for result in results)
        if not any(samples):
            known = sorted({name for each in results if each.report for name in each.report.metrics})
            raise UsageError(
                f"runner {self._cells.wishes.runner} has no metric {self._metric!r}",
                f"wanted positive numbers; it tells: {', '.join(['seconds', 'first_call', 'peak_memory', *known])}",
                "--metric seconds",
            )
        return samples


def _trial(spot: Spot, standing: Standing, judged: JudgedCell, run: str) -> Trial:
    return Trial(
        point=spot.point,
        verdict="skipped",
        phase=judged.phase,
        reason=f"{judged.observed}: {judged.reason}",
        python=standing.python,
        resolved=dict(standing.resolved),
        revisions=dict(standing.revisions),
        run=run,
    )


def _unmeasured(spot: Spot, standing: Standing, error: NothingSelectedError) -> Trial:
    reason = f"it cannot be measured: {error.why}"
    return Trial(point=spot.point, verdict="skipped", reason=reason, resolved=dict(standing.resolved))


def _figures(samples: list[tuple[tuple[float, ...], ...]]) -> dict[str, Any]:
    """Return what a trial keeps of the samples of the good end, the bad end (as far as they are there) and its own."""
    middles = [median(_rounds(each).values()) for each in samples]
    names = ("good_samples", "bad_samples")[: len(samples) - 1]
    ends = dict(zip(names, samples, strict=False))
    ratio = middles[-1] / middles[0] if len(middles) > 1 else None
    return {**ends, "samples": samples[-1], "median": middles[-1], "ratio": ratio}


def _side(rounds: list[dict[int, float]]) -> bool | None:
    """Tell whether a point is on the good side; a bad end is not if it differs from the good one."""
    if len(rounds) == 1:
        return True
    if len(rounds) > 2:  # noqa: PLR2004 - both ends and the point
        return is_on_good_side(*rounds)
    verdict = apart(*rounds).verdict
    if verdict is Verdict.SAME:
        return True
    return False if verdict in {Verdict.FASTER, Verdict.SLOWER} else None


def _rounds(samples: tuple[tuple[float, ...], ...]) -> dict[int, float]:
    return {number: median(values) for number, values in enumerate(samples) if values}


def _values(result: CellResult, metric: str) -> tuple[float, ...]:
    """Return one process's values of a metric; what is not positive is none."""
    report = result.report
    if report is None or result.outcome is not Outcome.PASSED:
        return ()
    if metric == "seconds":
        found: Any = report.samples
    elif metric == "first_call":
        found = report.first_call
    elif metric == "peak_memory":
        found = result.peak_memory
    else:
        found = report.metrics.get(metric)
    values = found if isinstance(found, tuple) else (found,)
    return tuple(float(value) for value in values if value is not None and value > 0)
