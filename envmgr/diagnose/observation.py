"""What one experiment showed."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from envmgr.diagnose.reading import Reading, read
from envmgr.model.finding import Experiment
from envmgr.model.outcome import Phase

_ORDER = tuple(Phase)


@dataclass(frozen=True)
class Observation:
    """How one world behaved: whether the probe passed, else in which phase it stopped and what was said.

    `resolved` is what was installed; `folder` is where the environment still stands (for questions), `step` the number
    of the step of the history that was being installed when it stopped. `refused` says why it was not tried at all,
    `short` that time or memory or room may have been, which tells nothing of what was asked.
    """

    passed: bool
    phase: Phase | None
    text: str
    resolved: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    folder: Path | None = None
    signal: int | None = None
    step: int = 0
    refused: str = ""
    short: bool = False

    @cached_property
    def reading(self) -> Reading:
        """What the text says."""
        return read(self.text)

    @property
    def built(self) -> bool:
        """True when there was an environment to probe."""
        return self.passed or self.phase in {Phase.IMPORT, Phase.BACKEND, Phase.RUN, Phase.CHECK}

    def later_than(self, other: Observation) -> bool:
        """Tell whether this one came further: in the probe, to a later phase, or to another failure in the same one."""
        if self.passed or self.refused or self.phase is None or other.phase is None:
            return self.passed
        if self.built != other.built:
            return self.built
        moved = self.moved_in_the_probe(other)
        if moved is not None:
            return moved
        if self.phase != other.phase:
            return _ORDER.index(self.phase) > _ORDER.index(other.phase)
        return bool(self.text) and self.reading.signature != other.reading.signature

    def moved_in_the_probe(self, other: Observation) -> bool | None:
        """Tell whether the probe itself came to a later line than in another run; None if that cannot be told."""
        here, there = self.reading.frames[:1], other.reading.frames[:1]
        if not (self.built and here):
            return None
        if not there:  # it ended without a traceback
            return bool(other.text) or None
        same = here[0].file == there[0].file and here[0].line != there[0].line
        return here[0].line > there[0].line if same else None


def experiment_of(change: str, seen: Observation) -> Experiment:
    """Return one experiment as the finding tells it."""
    outcome = "passed" if seen.passed else ("failed" if seen.built else "not-buildable")
    outcome = "not-run" if seen.refused else outcome
    return Experiment.model_validate(
        {
            "change": change,
            "outcome": outcome,
            "phase": seen.phase,
            "reason": seen.refused or ("" if seen.passed else seen.reading.message[:300]),
            "seconds": round(seen.seconds, 2),
        }
    )


def phase_of_probe(text: str) -> Phase:
    """Return how far a probe came, by its traceback: a failed import, a failed assertion or the run itself."""
    reading = read(text)
    if reading.exception == "AssertionError" and len(reading.frames) <= 1:
        return Phase.CHECK
    if reading.exception in {"ImportError", "ModuleNotFoundError"}:
        return Phase.IMPORT
    if any(frame.function == "<module>" and frame.top for frame in reading.frames[-3:]):
        return Phase.IMPORT
    if re.search(r"backend", reading.message, re.IGNORECASE):
        return Phase.BACKEND
    return Phase.RUN
