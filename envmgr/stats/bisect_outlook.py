"""What a bisection will probably ask next: the same search with imagined answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from envmgr.stats.bisect import FlakyEndError, bisect

_MOST_THOUGHTS = 7


@dataclass(frozen=True, slots=True)
class Question:
    """A place of the line that is asked, or asked `again`."""

    place: int
    again: bool = False


class _UnaskedError(Exception):
    def __init__(self, question: Question) -> None:
        super().__init__(question)
        self.question = question


def upcoming(
    last: int, answers: Mapping[Question, bool | None], pending: Question, *, repeats: bool, most: int = 3
) -> list[Question]:
    """Return what will be asked when the pending question has an answer, the soonest first.

    The line goes from 0 to `last`; `answers` are what is known. Asked again, a place is imagined to answer alike.

    >>> upcoming(16, {Question(0): True, Question(16): False}, Question(8), repeats=True, most=2)
    [Question(place=12, again=False), Question(place=4, again=False)]
    """
    hopes: dict[Question, None] = {}
    thoughts = [{**answers, pending: answer} for answer in _imagined(pending, answers, last)]
    for _ in range(_MOST_THOUGHTS):
        if not thoughts or len(hopes) >= most:
            break
        thought = thoughts.pop(0)
        question = _next(last, thought, repeats=repeats)
        if question is not None:
            hopes |= {question: None} if question != pending else {}
            thoughts += [{**thought, question: answer} for answer in _imagined(question, thought, last)]
    return list(hopes)[:most]


def _imagined(
    question: Question, answers: Mapping[Question, bool | None], last: int
) -> tuple[bool, ...] | tuple[bool | None]:
    """Return what a question may be answered: an end as it is called, what was asked before as then, else both."""
    if question.again:
        return (answers.get(Question(question.place)),)
    return {0: (True,), last: (False,)}.get(question.place, (True, False))


def _next(last: int, answers: Mapping[Question, bool | None], *, repeats: bool) -> Question | None:
    def ask(question: Question) -> bool | None:
        if question not in answers:
            raise _UnaskedError(question)
        return answers[question]

    try:
        ask(Question(0))
        ask(Question(last))
        bisect(
            0,
            last,
            lambda place: ask(Question(place)),
            (lambda place: ask(Question(place, again=True))) if repeats else None,
        )
    except _UnaskedError as error:
        return error.question
    except FlakyEndError:
        return None
    return None
