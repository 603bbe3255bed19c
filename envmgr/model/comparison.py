"""Two measurements side by side: how many times as long the second took, and what may be said of it."""

from __future__ import annotations

from enum import StrEnum

from envmgr.model.noun import Noun
from envmgr.model.outcome import Outcome
from envmgr.model.summary import Mark


class Verdict(StrEnum):
    """What the data lets one say of the second measurement against the first."""

    FASTER = "faster"
    SLOWER = "slower"
    SAME = "same"
    CANNOT_TELL = "can't tell"


class Comparison(Noun):
    """The second measurement against the first.

    `ratio` is the second's time divided by the first's (2 takes twice as long), `low` and `high` its interval at the
    level of confidence `confidence`, which allows for all comparisons made at once; `p_value` is that of "no
    difference". `smallest_change` is the smallest relative change that this data would have shown four times out of
    five. All are None where nothing could be computed; `reason` says why, and why there is no clear verdict.
    `paired` tells that rounds of one run were compared with each other. `regressed` tells that the first was good and
    the second is not. `name` is the second's; `marks` is what disturbed either.
    """

    name: str
    first: str
    second: str
    first_outcome: Outcome
    second_outcome: Outcome
    verdict: Verdict
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    confidence: float | None = None
    p_value: float | None = None
    smallest_change: float | None = None
    processes: tuple[int, int] = (0, 0)
    paired: bool = False
    reason: str = ""
    regressed: bool = False
    marks: tuple[Mark, ...] = ()


class Comparisons(Noun):
    """Everything that was compared at once: what with what, and what has no counterpart."""

    first: str
    second: str
    pairs: tuple[Comparison, ...]
    only_first: tuple[str, ...] = ()
    only_second: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
