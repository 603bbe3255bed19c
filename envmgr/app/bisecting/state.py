"""What a bisection has tried, kept in the project's folder, so that one that was killed goes on from there."""

from __future__ import annotations

import hashlib
from pathlib import Path

from pydantic import ValidationError

from envmgr.app.bisecting.lines import Line
from envmgr.model.bisection import Trial
from envmgr.model.noun import Noun
from envmgr.ports import Files


class _Kept(Noun):
    schema_: int = 1
    trials: tuple[Trial, ...] = ()


class Notebook:
    """The trials of one question: what is bisected between which points, and what is asked of each."""

    def __init__(self, files: Files, folder: Path, line: Line, asked: str, *, resume: bool) -> None:
        told = "\n".join(
            [line.kind, line.subject, asked, *(_digest(spot.manifest.model_dump_json()) for spot in line.spots)]
        )
        self._path = folder / f"{_digest(told)[:16]}.json"
        self._files = files
        self._trials: dict[str, Trial] = {}
        if resume:
            self._trials = {trial.point.label: trial for trial in self._read()}
        self.resumed = frozenset(self._trials)

    @property
    def trials(self) -> tuple[Trial, ...]:
        """What has been tried, in the order of trying."""
        return tuple(sorted(self._trials.values(), key=lambda trial: trial.number))

    def find(self, label: str) -> Trial | None:
        """Return what became of a point, None if it has not been tried."""
        return self._trials.get(label)

    def keep(self, trial: Trial) -> Trial:
        """Write a trial down and return it with its number."""
        before = self._trials.get(trial.point.label)
        numbered = trial.model_copy(update={"number": before.number if before else len(self._trials) + 1})
        self._trials[trial.point.label] = numbered
        self._files.write(self._path, _Kept(trials=self.trials).model_dump_json(indent=1))
        return numbered

    def _read(self) -> tuple[Trial, ...]:
        try:
            return _Kept.model_validate_json(self._files.read(self._path) or "{}").trials
        except ValidationError:
            return ()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
