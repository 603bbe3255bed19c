"""Turns in the order of the jobs, however their threads happen to run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock


class _Place:
    """A job that waits for its turn: what its turn begins with, and what came of that."""

    def __init__(self, begin: Callable[[], None]) -> None:
        self._begin = begin
        self._error: BaseException | None = None
        self._begun = Lock()
        self._begun.acquire()

    def begin(self) -> None:
        try:
            self._begin()
        except BaseException as error:  # noqa: BLE001 - it is raised again where the turn is awaited
            self._error = error
        finally:
            self._begun.release()

    def wait(self) -> None:
        self._begun.acquire()
        if self._error is not None:
            raise self._error


class Turns:
    """Lets jobs, numbered from 0, do their part in order, some at a time; each takes its turn once or gives it up."""

    def __init__(self, at_once: int) -> None:
        self._guard = Lock()
        self._next = 0
        self._free = at_once
        self._waiting: dict[int, _Place] = {}
        self._given_up: set[int] = set()

    @contextmanager
    def take(self, number: int, begin: Callable[[], None] = lambda: None) -> Iterator[None]:
        """Wait until all before have begun and one of the places is free, and hold the place.

        The turn begins with `begin`, and that is called by whoever frees the place, at once: it waits for no thread to
        wake up. What it raises is raised here.
        """
        place = _Place(begin)
        with self._guard:
            self._waiting[number] = place
        self._let_in()
        try:
            place.wait()
            yield
        finally:
            with self._guard:
                self._free += 1
            self._let_in()

    def give_up(self, number: int) -> None:
        """Let the others pass a job that will not take its turn any more; one that has had it gives up nothing."""
        with self._guard:
            if number >= self._next:
                self._given_up.add(number)
        self._let_in()

    def _let_in(self) -> None:
        while True:
            with self._guard:
                while self._next in self._given_up:
                    self._given_up.remove(self._next)
                    self._next += 1
                place = self._waiting.pop(self._next, None) if self._free else None
                if place is None:
                    return
                self._next += 1
                self._free -= 1
            place.begin()
