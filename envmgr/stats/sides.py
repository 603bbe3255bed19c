"""On which side of a change does a measurement lie? Decided against samples of both sides."""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import median

from envmgr.model.comparison import Verdict
from envmgr.stats.compare import Judgement, Measured, judge_all

Rounds = Mapping[int, float]
"""One positive value a process, by the number of the round in which all were measured."""


def apart(good: Rounds, bad: Rounds) -> Judgement:
    """Return the judgement on two ends; they are apart when its verdict is faster or slower."""
    return judge_all([Measured(good, bad, paired=True)])[0]


def is_on_good_side(good: Rounds, bad: Rounds, middle: Rounds) -> bool | None:
    """Tell on which side of the change a measurement lies: it differs beyond doubt from the other side's.

    What differs from both is on the side that is nearer. None when the samples do not tell.
    """
    toward = apart(good, bad).verdict
    if toward not in {Verdict.FASTER, Verdict.SLOWER}:
        return None
    from_good, from_bad = judge_all([Measured(good, middle, paired=True), Measured(middle, bad, paired=True)])
    unlike_good, unlike_bad = from_good.verdict is toward, from_bad.verdict is toward
    if unlike_good and unlike_bad:
        low, value, high = (math.log(median(rounds.values())) for rounds in (good, middle, bad))
        return abs(value - low) < abs(high - value)
    if unlike_good == unlike_bad:
        return _beyond(from_good, from_bad, toward)
    return unlike_bad


def _beyond(from_good: Judgement, from_bad: Judgement, toward: Verdict) -> bool | None:
    """Tell of a measurement that lies beyond an end on that end's own side."""
    away = Verdict.FASTER if toward is Verdict.SLOWER else Verdict.SLOWER
    if from_good.verdict is away and from_bad.verdict is not away:
        return True
    if from_bad.verdict is away and from_good.verdict is not away:
        return False
    return None
