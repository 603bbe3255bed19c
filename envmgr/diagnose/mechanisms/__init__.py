"""Mechanisms: each looks at a situation and proposes changes; none knows of particular failures."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from envmgr.diagnose.mechanisms import builds, era, extras, history, names, repair, surroundings
from envmgr.diagnose.situation import Hypothesis, Situation

Mechanism = Callable[[Situation], Iterator[Hypothesis]]

ALL: tuple[Mechanism, ...] = (
    surroundings.hypotheses,
    repair.hypotheses,
    history.hypotheses,
    names.hypotheses,
    extras.hypotheses,
    era.hypotheses,
    builds.hypotheses,
    builds.relaxed,
    repair.leave_out,
)
"""Every mechanism; what they propose is ranked together."""
