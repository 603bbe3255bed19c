"""Where along a line of releases, days or Pythons something changed, and everything that was tried to find out."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from envmgr.model.noun import Noun
from envmgr.model.outcome import Phase
from envmgr.model.result import Number

SubjectKind = Literal["package", "date", "python", "nightly"]
TrialVerdict = Literal["good", "bad", "skipped", "flaky"]


class Point(Noun):
    """One place on the line: its name (a version, a day), the day it came out, and what is pinned there."""

    label: str
    date: str = ""
    versions: dict[str, str] = Field(default_factory=dict)


class LeftOut(Noun):
    """A point that was known beforehand not to be had, and why: nothing was built for it."""

    label: str
    reason: str


class Trial(Noun):
    """What became of one point.

    `number` counts from 1 in the order of trying, `asked` how often the probe ran. `reason` is the last exception of a
    bad point, or why a point was skipped. `same_as` names the point whose verdict was taken because nothing but the
    name is different: no probe ran. `samples` are the metric's values, one list a process, `good_samples` and
    `bad_samples` those of the ends in the same rounds; `median` is over processes and `ratio` is to the good end's.
    `revisions` are source revisions by distribution, where they tell; `run` is the run in the project's store.
    """

    point: Point
    verdict: TrialVerdict
    number: int = 0
    asked: int = 1
    phase: Phase | None = None
    reason: str = ""
    seconds: float = 0.0
    python: str = ""
    resolved: dict[str, str] = Field(default_factory=dict)
    revisions: dict[str, str] = Field(default_factory=dict)
    same_as: str = ""
    run: str = ""
    samples: tuple[tuple[Number, ...], ...] = ()
    good_samples: tuple[tuple[Number, ...], ...] = ()
    bad_samples: tuple[tuple[Number, ...], ...] = ()
    median: Number | None = None
    ratio: Number | None = None


class Change(Noun):
    """One distribution that differs between the last good and the first bad point; empty where it is not there."""

    name: str
    good: str = ""
    bad: str = ""


class Bisection(Noun):
    """The boundary between good and bad: `exact` when nothing between the two points is untried, flaky or left out.

    `points` is the number of points on the line, `bound` the ⌈log₂ points⌉ + 2 probes that it takes at most when each
    of them can be tried; `probes` counts the points that were probed (`resumed` of them in an earlier call), `repeats`
    the probes that ran again to rule out chance. `untried` and `flaky` name the points between the two that tell
    nothing. `family` moved together with the subject.
    """

    kind: SubjectKind
    subject: str
    family: tuple[str, ...] = ()
    criterion: str
    points: int
    bound: int
    probes: int
    repeats: int = 0
    resumed: int = 0
    last_good: Trial
    first_bad: Trial
    exact: bool
    untried: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()
    changed: tuple[Change, ...] = ()
    reason: str = ""
    tried: tuple[Trial, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
