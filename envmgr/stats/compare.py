"""Is the second measurement faster, slower, the same? Decided on one value a process, for all comparisons at once."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from envmgr.model.comparison import Verdict
from envmgr.stats.robust import location
from envmgr.stats.student import quantile, two_sided

FALSE_ALARMS = 0.01
"""With this probability at most, any verdict faster or slower among all comparisons at once is a false one."""
CHOSEN_ROUNDS = 0.003
"""What is tested at where the number of rounds was chosen by how the values scatter: stopping at rounds that happen to
scatter little makes false alarms up to three times as frequent as the level says (benchmarks/comparison_power.py)."""
SMALLEST_CLAIM = 0.02
"""Smaller changes within a run are never called faster or slower: layout and order alone can make them."""
SMALLEST_CLAIM_BETWEEN_RUNS = 0.04
"""The same between two runs, whose machine may have drifted from one to the other."""
SAME_WITHIN = 0.05
"""Two measurements are called the same when the whole interval of their ratio lies within this of 1."""
FEWEST_PROCESSES = 3
DRIFT_MEMORY = 0.7
"""How alike the drift of a machine is from one process to the next (lag-1 autocorrelation): ten processes in a row tell
less of where the machine stood than ten at random moments would. Only within a run does the drift cancel out."""
_POWER = 0.8
_RESOLUTION = 1e-3
_LARGEST_EXPONENT = 700.0


@dataclass(frozen=True, slots=True)
class Measured:
    """Two cells' seconds by round, one value a process; `paired` tells that both were measured in the same rounds.

    `crowded` is the factor by which what else went on could have made either side slower; a smaller change is not
    claimed. In pairs it hits both sides.
    """

    first: Mapping[int, float]
    second: Mapping[int, float]
    paired: bool
    crowded: float = 1.0


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one comparison among several comes to; the numbers are None where there are too few processes."""

    verdict: Verdict
    processes: tuple[int, int]
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    confidence: float | None = None
    p_value: float | None = None
    smallest_change: float | None = None
    reason: str = ""


class _Difference(NamedTuple):
    """The difference of two logarithmic locations, its standard error, degrees of freedom and p-value."""

    place: int
    value: float
    error: float
    freedom: float
    p_value: float
    floor: float


def judge_all(measured: Sequence[Measured], level: float = FALSE_ALARMS) -> tuple[Judgement, ...]:
    """Return the judgement on every pair, in order.

    The logarithms of the processes' values are compared by trimmed means (Yuen): within a run round by round, so that
    what slows the whole machine down for a while hits both; between runs as two samples. Holm's procedure keeps the
    probability of any false alarm at `level` however many pairs there are, and each interval is at the level at which
    its pair was tested, so that interval and verdict never contradict each other.
    """
    differences = [found for place, pair in enumerate(measured) if (found := _difference(place, pair))]
    levels = _levels(differences, level)
    judged = [_unjudged(pair) for pair in measured]
    for difference in differences:
        judged[difference.place] = _judgement(difference, levels[difference.place], measured[difference.place])
    return tuple(judged)


def _difference(place: int, pair: Measured) -> _Difference | None:
    if pair.paired:
        rounds = sorted(pair.first.keys() & pair.second.keys())
        if len(rounds) < FEWEST_PROCESSES:
            return None
        value, error, freedom = location([math.log(pair.second[at] / pair.first[at]) for at in rounds])
        count: float = len(rounds)
    else:
        if min(len(pair.first), len(pair.second)) < FEWEST_PROCESSES:
            return None
        one = location([math.log(value) for value in pair.first.values()])
        other = location([math.log(value) for value in pair.second.values()])
        count = 1 / (1 / len(pair.first) + 1 / len(pair.second))
        value = other.value - one.value
        error = math.hypot(one.error * _drifting(len(pair.first)), other.error * _drifting(len(pair.second)))
        freedom = _welch(one.error, one.freedom, other.error, other.freedom)
    # A clock that cannot tell two values apart must not make them certain.
    error = max(error, _RESOLUTION / math.sqrt(count))
    floor = math.log1p(SMALLEST_CLAIM if pair.paired else max(SMALLEST_CLAIM_BETWEEN_RUNS, pair.crowded - 1))
    return _Difference(place, value, error, freedom, two_sided(value / error, freedom), floor)


def _drifting(count: int) -> float:
    """Return by how much the standard error of a mean of processes in a row is larger than that of independent ones.

    The variance of a mean of `count` values of a first-order autoregressive process, over what their own spread says.
    """
    share = 1 + 2 * math.fsum((1 - lag / count) * DRIFT_MEMORY**lag for lag in range(1, count))
    return math.sqrt(share * (count - 1) / (count - share))


def _welch(one: float, freedom: float, other: float, other_freedom: float) -> float:
    if not one and not other:
        return min(freedom, other_freedom)
    return (one**2 + other**2) ** 2 / (one**4 / freedom + other**4 / other_freedom)


def _levels(differences: Sequence[_Difference], allowed: float) -> dict[int, float]:
    """Return for each comparison the probability of a false alarm at which Holm's procedure tests it."""
    levels: dict[int, float] = {}
    level, stopped = 0.0, False
    for rank, difference in enumerate(sorted(differences, key=lambda each: each.p_value)):
        if not stopped:
            level = allowed / (len(differences) - rank)
            stopped = difference.p_value > level
        levels[difference.place] = level
    return levels


def _judgement(difference: _Difference, level: float, pair: Measured) -> Judgement:
    _, value, error, freedom, p_value, floor = difference
    reach = quantile(1 - level / 2, freedom) * error
    low, high = _factor(value - reach), _factor(value + reach)
    smallest = _factor(max(floor, reach + quantile(_POWER, freedom) * error)) - 1
    verdict = Verdict.CANNOT_TELL
    if abs(value) > reach and abs(value) > floor:
        verdict = Verdict.SLOWER if value > 0 else Verdict.FASTER
    elif low > 1 / (1 + SAME_WITHIN) and high < 1 + SAME_WITHIN:
        verdict = Verdict.SAME
    reason = ""
    if verdict is Verdict.CANNOT_TELL:
        reason = f"the smallest change that this data would have shown is {_percent(smallest)}"
        if floor > math.log1p(SMALLEST_CLAIM_BETWEEN_RUNS):
            reason += ": other programs alone could have made a smaller one"
    return Judgement(
        verdict=verdict,
        processes=(len(pair.first), len(pair.second)),
        ratio=_factor(value),
        low=low,
        high=high,
        confidence=1 - level,
        p_value=p_value,
        smallest_change=smallest,
        reason=reason,
    )


def _percent(change: float) -> str:
    return f"{100 * change:.2g} %" if change < 1 else f"a factor of {1 + change:.3g}"


def _factor(logarithm: float) -> float:
    return math.exp(logarithm) if logarithm < _LARGEST_EXPONENT else math.inf


def _unjudged(pair: Measured) -> Judgement:
    counts = (len(pair.first), len(pair.second))
    if pair.paired:
        shared = len(pair.first.keys() & pair.second.keys())
        found = f"{shared} rounds in which both were measured"
    else:
        found = f"{counts[0]} and {counts[1]} processes"
    reason = f"wanted at least {FEWEST_PROCESSES} processes of each, found {found} (--effort default has enough)"
    return Judgement(Verdict.CANNOT_TELL, counts, reason=reason)
