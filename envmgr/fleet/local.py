"""Work done on this machine, several jobs at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

from envmgr.fleet.failures import Failures

Job = TypeVar("Job")
Done = TypeVar("Done")

# On Windows a wait without a limit cannot be interrupted by Ctrl-C.
_LONGEST_WAIT = 0.5
_LAST_WAIT = 5.0


class _Task(threading.Thread, Generic[Job, Done]):
    """One job in a thread of its own, which puts itself into the queue when it is done.

    It is a daemon: an interrupted program ends without waiting for jobs that can take minutes.
    """

    def __init__(self, function: Callable[[Job], Done], job: Job, finished: SimpleQueue[_Task[Job, Done]]) -> None:
        super().__init__(daemon=True)
        self._function = function
        self._job = job
        self._finished = finished
        self.error: BaseException | None = None
        self.returned: tuple[Done, ...] = ()

    def run(self) -> None:
        try:
            self.returned = (self._function(self._job),)
        except BaseException as error:  # noqa: BLE001 - it is raised again where the results are awaited
            self.error = error
        finally:
            self._finished.put(self)


class LocalExecutor:
    """Runs jobs in at most `workers` threads: enough for jobs that wait for processes of their own."""

    def __init__(self, workers: int, stop: Callable[[], None] | None = None) -> None:
        self._workers = max(1, workers)
        self._stop = stop

    def map(self, function: Callable[[Job], Done], jobs: Iterable[Job]) -> Iterator[Done]:
        """Yield what the function returns, in order of completion; jobs are started in their order, and taken lazily.

        Exceptions of jobs are raised when all the others are done. When the consumer is interrupted or stops asking,
        no further job is started, and those that run are not waited for; with `stop` they are told to end, and what
        they return is yielded before the interrupt is raised again.
        """
        finished: SimpleQueue[_Task[Job, Done]] = SimpleQueue()
        failures = Failures()
        waiting = iter(jobs)
        running = 0
        while True:
            for job in islice(waiting, self._workers - running):
                _Task(function, job, finished).start()
                running += 1
            if not running:
                break
            try:
                task = _next_of(finished)
            except KeyboardInterrupt:
                if self._stop is not None:
                    self._stop()
                    yield from _rest_of(finished, running)
                raise
            running -= 1
            if isinstance(task.error, Exception):
                failures.add(task.error)
            elif task.error is not None:
                raise task.error
            yield from task.returned
        failures.surface()


def _rest_of(finished: SimpleQueue[_Task[Job, Done]], running: int) -> Iterator[Done]:
    """Yield what the jobs that still ran return; one that does not end in time is left to itself."""
    with suppress(Empty):
        for _ in range(running):
            yield from finished.get(timeout=_LAST_WAIT).returned


def _next_of(finished: SimpleQueue[_Task[Job, Done]]) -> _Task[Job, Done]:
    while True:
        try:
            return finished.get(timeout=_LONGEST_WAIT)
        except Empty:
            continue
