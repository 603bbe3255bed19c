"""One cell over the runs of its matrix."""

from __future__ import annotations

from envmgr.model.comparison import Verdict
from envmgr.model.noun import Noun
from envmgr.model.outcome import Outcome


class Point(Noun):
    """What one run measured of a cell; `change` is the verdict against the run before it in which it was measured."""

    run: str
    started_at: str
    outcome: Outcome
    median: float | None = None
    interval: tuple[float, float] | None = None
    change: Verdict | None = None
    ratio: float | None = None
