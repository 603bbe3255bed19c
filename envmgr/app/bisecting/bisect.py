"""Bisecting: where along a line of releases, days or Pythons something changed, found in few probes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from packaging.version import Version

from envmgr.app.bisecting.lines import Line, Spot
from envmgr.app.bisecting.standing import Bounds, Standing, twin_of
from envmgr.app.bisecting.state import Notebook
from envmgr.errors import BuildError, UsageError
from envmgr.model.bisection import Bisection, Change, Trial
from envmgr.ports import Clock, Event, Listener
from envmgr.stats.bisect import FlakyEndError, bisect, most_questions
from envmgr.stats.bisect_outlook import Question, upcoming

Likely = Callable[[], Sequence[tuple[Spot, bool]]]
"""Returns points that will probably be asked, and whether they will have been asked before."""


class Oracle(Protocol):
    """Tells of one point whether it is good."""

    @property
    def criterion(self) -> str:
        """What is asked, in words."""

    @property
    def repeats(self) -> bool:
        """True when the two deciding points are to be asked again, to rule out chance."""

    def stand(self, spot: Spot, names: tuple[str, ...], /) -> Standing:
        """Build the environment of a point."""

    def ask(self, spot: Spot, standing: Standing, bounds: Bounds, /) -> Trial:
        """Ask once."""

    def expect(self, likely: Likely, /) -> None:
        """Hear what will probably be asked after the next question; it may be begun where that disturbs nothing."""


@dataclass(frozen=True, slots=True)
class Means:
    """What a bisection works with besides its line: who answers, where it is written down, who listens."""

    oracle: Oracle
    notebook: Notebook
    clock: Clock
    listener: Listener


def bisect_line(line: Line, means: Means) -> Bisection:
    """Return the boundary on a line; both ends are checked first.

    Raises UsageError when an end is not what it is called or tells another thing each time, BuildError when an end
    cannot be built.
    """
    return _Bisecting(line, means).find()


class _Bisecting:
    """One bisection from the ends to the boundary."""

    def __init__(self, line: Line, means: Means) -> None:
        self._line = line
        self._means = means
        self._bounds = Bounds()
        self._most = most_questions(len(line.spots))
        self._repeats = 0

    def find(self) -> Bisection:
        """Check the ends, search between them, and say what was found."""
        last = len(self._line.spots) - 1
        first, final = self._line.spots[0], self._line.spots[last]
        self._bounds = Bounds(good=self._end(0, "good"), good_spot=first)
        self._bounds = replace(self._bounds, bad=self._end(last, "bad"), bad_spot=final)
        again = self._ask_again if self._means.oracle.repeats else None
        try:
            turn = bisect(0, last, self._ask, again)
        except FlakyEndError as error:
            raise self._flaky_end(error.place) from error
        return self._told(turn.last_good, turn.first_bad, turn.untried, turn.flaky)

    def _end(self, place: int, wanted: str) -> Trial:
        trial = self._trial(place)
        label = f"{self._line.subject} {trial.point.label}"
        if trial.verdict == wanted:
            return trial
        if trial.verdict == "skipped" and not trial.samples:
            raise BuildError(
                f"the {wanted} end cannot be tried: {label}",
                f"wanted an environment that can be asked; found: {trial.reason}",
                f"name another --{wanted}",
            )
        same = f": it is the same revision as {trial.same_as}" if trial.same_as else ""
        found = trial.reason or f"it is {trial.verdict}, as the other end{same}"
        if wanted == "good":
            raise UsageError(f"the good end is not good: {label}", f"found: {found}", "name another --good")
        raise UsageError(
            f"the bad end is not bad: {label}",
            f"wanted it to be told from the good end; found: {found}{_beside_metric(trial)}",
            "name another --bad, or change the probe",
        )

    def _flaky_end(self, place: int) -> UsageError:
        end = "good" if place == 0 else "bad"
        label = f"{self._line.subject} {self._line.spots[place].point.label}"
        return UsageError(
            f"the {end} end answers otherwise when asked again: {label}",
            "wanted the same answer twice; the probe is flaky there",
            "make a probe that always tells: repeat in it what fails now and then",
        )

    def _ask(self, place: int) -> bool | None:
        verdict = self._trial(place).verdict
        return None if verdict in {"skipped", "flaky"} else verdict == "good"

    def _trial(self, place: int) -> Trial:
        """Return what becomes of a point: known from before, the same as another, or asked now."""
        spot, notebook = self._line.spots[place], self._means.notebook
        known = notebook.find(spot.point.label)
        if known is not None:
            return known
        begun = self._means.clock.monotonic()
        self._tell("trying", spot, f"{len(notebook.trials) + 1} of {self._most} at most")
        self._means.oracle.expect(lambda: self._upcoming(Question(place)))
        trial = self._tried(spot)
        seconds = self._means.clock.monotonic() - begun
        kept = notebook.keep(trial.model_copy(update={"seconds": max(seconds, trial.seconds)}))
        same = f"the same as {kept.same_as}: skipped; " if kept.same_as else ""
        self._tell(kept.verdict, spot, f"{same}{kept.reason}")
        return kept

    def _tried(self, spot: Spot) -> Trial:
        standing = self._means.oracle.stand(spot, self._line.names)
        if standing.phase is not None:
            return Trial(point=spot.point, verdict="skipped", asked=0, phase=standing.phase, reason=standing.reason)
        twin = twin_of(standing, self._means.notebook.trials)
        if twin is None:
            return self._means.oracle.ask(spot, standing, self._bounds)
        changes = {
            "point": spot.point,
            "asked": 0,
            "seconds": 0.0,
            "same_as": twin.point.label,
            "resolved": dict(standing.resolved),
        }
        return twin.model_copy(update={**changes, "revisions": dict(standing.revisions), "run": ""})

    def _ask_again(self, place: int) -> bool | None:
        """Ask a deciding point once more; one that disagrees with itself is noted as flaky."""
        spot, notebook = self._line.spots[place], self._means.notebook
        before = self._trial(place)
        if before.asked > 1:
            return before.verdict == "good"
        self._tell("asking again", spot, "to rule out chance")
        self._repeats += 1
        self._means.oracle.expect(lambda: self._upcoming(Question(place, again=True)))
        standing = self._means.oracle.stand(spot, self._line.names)
        after = self._means.oracle.ask(spot, standing, self._bounds)
        verdict = before.verdict if after.verdict == before.verdict else "flaky"
        changes = {"asked": before.asked + 1, "verdict": verdict, "reason": before.reason or after.reason}
        notebook.keep(before.model_copy(update=changes))
        return None if verdict == "flaky" else before.verdict == "good"

    def _upcoming(self, pending: Question) -> list[tuple[Spot, bool]]:
        """Return what will probably be asked after a question."""
        answers: dict[Question, bool | None] = {}
        for place, spot in enumerate(self._line.spots):
            trial = self._means.notebook.find(spot.point.label)
            if trial is not None:
                verdict = {"good": True, "bad": False}.get(trial.verdict)
                answers[Question(place)] = verdict
                answers |= {Question(place, again=True): verdict} if trial.asked > 1 else {}
        last = len(self._line.spots) - 1
        found = upcoming(last, answers, pending, repeats=self._means.oracle.repeats)
        return [(self._line.spots[one.place], one.again) for one in found]

    def _told(self, good: int, bad: int, untried: tuple[int, ...], flaky: tuple[int, ...]) -> Bisection:
        line, trials = self._line, {trial.point.label: trial for trial in self._means.notebook.trials}
        labels = [spot.point.label for spot in line.spots]
        ordered = tuple(trials[label] for label in labels if label in trials)
        last_good, first_bad = trials[labels[good]], trials[labels[bad]]
        return Bisection(
            kind=line.kind,
            subject=line.subject,
            family=line.family,
            criterion=self._means.oracle.criterion,
            points=len(labels),
            bound=self._most,
            probes=sum(trial.asked > 0 and not trial.same_as for trial in ordered),
            repeats=self._repeats,
            resumed=len(self._means.notebook.resumed & trials.keys()),
            last_good=last_good,
            first_bad=first_bad,
            exact=not untried and not flaky and not _left_out_between(line, last_good, first_bad),
            untried=tuple(labels[place] for place in untried),
            flaky=tuple(labels[place] for place in flaky),
            changed=_changes(last_good, first_bad),
            reason=first_bad.reason,
            tried=ordered,
            left_out=line.left_out,
        )

    def _tell(self, stage: str, spot: Spot, detail: str) -> None:
        told = f"{self._line.subject} {spot.point.label}"
        self._means.listener.on_event(Event(stage, told, detail))


def _changes(good: Trial, bad: Trial) -> tuple[Change, ...]:
    names = sorted(good.resolved.keys() | bad.resolved.keys())
    found = [Change(name=name, good=good.resolved.get(name, ""), bad=bad.resolved.get(name, "")) for name in names]
    own = set(bad.point.versions)
    return tuple(sorted((each for each in found if each.good != each.bad), key=lambda each: each.name not in own))


def _left_out_between(line: Line, good: Trial, bad: Trial) -> bool:
    """Tell whether a release between the two was left out beforehand; only releases are."""
    if not line.left_out:
        return False
    low, high = sorted((Version(good.point.label), Version(bad.point.label)))
    return any(low < Version(each.label) < high for each in line.left_out)


def _beside_metric(trial: Trial) -> str:
    return f" ({trial.ratio:.3g} times the good end's)" if trial.ratio is not None else ""
