"""Turns in the order of the jobs, however their threads happen to run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition


class Turns:
    """Lets jobs, numbered from 0, do their part in order, some at a time; each takes its turn once or gives it up."""

    def __init__(self, at_once: int) -> None:
        self._changed = Condition()
        self._next = 0
        self._free = at_once
        self._given_up: set[int] = set()

    @contextmanager
    def take(self, number: int) -> Iterator[None]:
        """Wait until all before have begun and one of the places is free, and hold the place."""
        with self._changed:
            self._changed.wait_for(lambda: number == self._next and self._free > 0)
            self._advance()
            self._free -= 1
        try:
            yield
        finally:
            with self._changed:
                self._free += 1
                self._changed.notify_all()

    def give_up(self, number: int) -> None:
        """Let the others pass a job that will not take its turn any more; one that has had it gives up nothing."""
        with self._changed:
            if number == self._next:
                self._advance()
            elif number > self._next:
                self._given_up.add(number)

    def _advance(self) -> None:
        self._next += 1
        while self._next in self._given_up:
            self._given_up.remove(self._next)
            self._next += 1
        self._changed.notify_all()
