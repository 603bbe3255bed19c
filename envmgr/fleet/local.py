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


class _Task(Generic[Job, Done]):
    """One job, and what became of it once it is done."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self.error: BaseException | None = None
        self.returned: tuple[Done, ...] = ()

    def run(self, function: Callable[[Job], Done]) -> None:
        """Do the job; what it raises is kept."""
        try:
            self.returned = (function(self._job),)
        except BaseException as error:  # noqa: BLE001 - it is raised again where the results are awaited
            self.error = error


class _Workers(Generic[Job, Done]):
    """Threads that do one job after the other, and put each into a queue when it is done.

    They are daemons: an interrupted program ends without waiting for jobs that can take minutes.
    """

    def __init__(self, function: Callable[[Job], Done]) -> None:
        self._function = function
        self._waiting: SimpleQueue[_Task[Job, Done] | None] = SimpleQueue()
        self._count = 0
        self.running = 0
        self.finished: SimpleQueue[_Task[Job, Done]] = SimpleQueue()

    def start(self, job: Job) -> None:
        """Have a job done at once, by a thread of its own if all are busy."""
        self._waiting.put(_Task(job))
        self.running += 1
        if self.running > self._count:
            self._count += 1
            threading.Thread(target=self._work, daemon=True).start()

    def next(self) -> _Task[Job, Done]:
        """Wait for the next that is done."""
        task = _next_of(self.finished)
        self.running -= 1
        return task

    def dismiss(self) -> None:
        """Let the threads end, each after the job that it is at."""
        for _ in range(self._count):
            self._waiting.put(None)

    def _work(self) -> None:
        while (task := self._waiting.get()) is not None:
            task.run(self._function)
            self.finished.put(task)


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
        workers = _Workers[Job, Done](function)
        failures = Failures()
        waiting = iter(jobs)
        try:
            while True:
                for job in islice(waiting, self._workers - workers.running):
                    workers.start(job)
                if not workers.running:
                    break
                try:
                    task = workers.next()
                except KeyboardInterrupt:
                    if self._stop is not None:
                        self._stop()
                        yield from _rest_of(workers.finished, workers.running)
                    raise
                if isinstance(task.error, Exception):
                    failures.add(task.error)
                elif task.error is not None:
                    raise task.error
                yield from task.returned
        finally:
            workers.dismiss()
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
