"""What will probably be asked next: the same reasoning with imagined answers, by which nothing is started."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from envmgr.diagnose.observation import Observation
from envmgr.diagnose.search import Hope, Journal, key_of
from envmgr.model.finding import World

Follow = Callable[[Journal], World]
"""Reasons with what a journal tells, and returns the world that is to be confirmed."""

_MOST_THOUGHTS = 7
_MOST_HOPES = 4
_ANSWERS = (True, False)


class _UnseenError(Exception):
    """Tells that the reasoning has come to worlds that nobody has seen."""

    def __init__(self, worlds: tuple[World, ...]) -> None:
        super().__init__(worlds)
        self.worlds = worlds


@dataclass
class _Imagined(Journal):
    """A journal that knows imagined answers besides, and asks and writes down nothing."""

    answers: Mapping[str, Observation] = field(default_factory=dict)

    def observe(self, worlds: Sequence[World]) -> list[Observation]:
        """Return what is known or imagined of each world; raises _UnseenError for others."""
        everything = {**self.known, **self.answers}
        unseen = {key_of(world): world for world in worlds if key_of(world) not in everything}
        if unseen:
            raise _UnseenError(tuple(unseen.values()))
        return [everything[key_of(world)] for world in worlds]


def foresee(
    follow: Follow, journal: Journal, pending: Sequence[World], answers: Sequence[bool] = _ANSWERS
) -> list[Hope]:
    """Return what will be asked when the pending worlds have been seen, the soonest first.

    Several that are pending together are imagined to pass all, or to fail all, as far as `answers` admit it.
    """
    hopes: dict[Hope, None] = {}
    waiting = {key_of(world) for world in pending}
    thoughts = [_all(journal, pending, passed=passed) for passed in answers]
    for _ in range(_MOST_THOUGHTS):
        if not thoughts or len(hopes) >= _MOST_HOPES:
            break
        thought = thoughts.pop(0)
        try:
            found = follow(_imagining(journal, thought))
        except _UnseenError as error:
            hopes |= {Hope(world): None for world in error.worlds if key_of(world) not in waiting}
            thoughts += [{**thought, **_all(journal, error.worlds, passed=passed)} for passed in _ANSWERS]
        else:
            hopes |= {Hope(world, again=True): None for world in (found, journal.base)}
    return list(hopes)


def _all(journal: Journal, worlds: Sequence[World], *, passed: bool) -> dict[str, Observation]:
    return {key_of(world): journal.imagined(world, passed=passed) for world in worlds}


def _imagining(journal: Journal, thought: Mapping[str, Observation]) -> _Imagined:
    return _Imagined(
        journal.base, journal.oracle, journal.affordable, journal.narrate, known=journal.known, answers=thought
    )
