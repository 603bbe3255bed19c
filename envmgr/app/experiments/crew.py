"""Experiments several at a time: those that are asked for, and with hands left free those likely to be asked next."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from envmgr.ports import Clock, Process, StoppableProcess

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Job(Generic[Result]):
    """One experiment: equal keys are equal experiments; it starts its processes through what it is given."""

    key: str
    carry_out: Callable[[Process], Result]


@dataclass(slots=True)
class Account:
    """What was begun before it was asked for: how many, how many of these were asked for, the seconds of the others."""

    begun: int = 0
    used: int = 0
    thrown_seconds: float = 0.0

    def sentence(self) -> str:
        """Return the account for people, empty where nothing was begun ahead.

        >>> Account(5, 3, 1.25).sentence()
        '5 begun ahead, 3 of them used, 2 thrown away (1.2 s)'
        """
        if not self.begun:
            return ""
        thrown = self.begun - self.used
        return f"{self.begun} begun ahead, {self.used} of them used, {thrown} thrown away ({self.thrown_seconds:.1f} s)"


@dataclass(slots=True, eq=False)
class _Task(Generic[Result]):
    job: Job[Result]
    process: StoppableProcess
    future: Future[Result] = field(default_factory=Future)
    seconds: float = 0.0
    accompanied: bool = False


class Crew(Generic[Result]):
    """Carries out experiments, at most `hands` of those that are asked for at a time.

    Ahead of being asked nothing is begun but by a hand that is free while somebody waits, and what is no longer likely
    is stopped. What is not `trusted` and was not seen alone is seen anew, alone, when it is asked for.
    """

    def __init__(
        self, hands: int, process: StoppableProcess, clock: Clock, trusted: Callable[[Result], bool] = lambda _: True
    ) -> None:
        self.account = Account()
        self._hands = hands
        self._process = process
        self._clock = clock
        self._trusted = trusted
        self._pool = ThreadPoolExecutor(hands)
        self._pool_ahead = ThreadPoolExecutor(max(1, 2 * (hands - 1)))
        self._guard = threading.RLock()
        self._asked: list[_Task[Result]] = []
        self._ahead: dict[str, _Task[Result]] = {}
        self._dropped: list[_Task[Result]] = []
        self._hopes: list[Job[Result]] = []

    @property
    def looks_ahead(self) -> bool:
        """True when anything may be begun before it is asked for."""
        return self._hands > 1

    def now(
        self, jobs: Sequence[Job[Result]], likely: Callable[[], Sequence[Job[Result]]] = lambda: ()
    ) -> list[Result]:
        """Return what the experiments show, in their order; meanwhile begin what is `likely` to be asked next."""
        with self._guard:
            early = [self._ahead.pop(job.key, None) for job in jobs]
            self._asked = [task for task in early if task is not None]
            tasks = [task or self._begun(job) for task, job in zip(early, jobs, strict=True)]
        if self.looks_ahead:
            self._hope([job for job in likely() if job.key not in {one.key for one in jobs}])
        try:
            wait([task.future for task in tasks])
        finally:
            with self._guard:
                self._hopes = []
        return [self._result(task, early=begun is not None) for begun, task in zip(early, tasks, strict=True)]

    def has_begun(self, key: str) -> bool:
        """Tell whether an experiment goes on, or is done, that nobody has asked for yet."""
        with self._guard:
            return key in self._ahead

    @contextmanager
    def at_work(self, tell: Callable[[str], None] = lambda _: None) -> Iterator[Crew[Result]]:
        """Give the crew; in the end, stop all that it still does, and tell what was begun ahead, if anything was."""
        try:
            yield self
        finally:
            self._close()
            if said := self.account.sentence():
                tell(said)

    def _close(self) -> None:
        with self._guard:
            self._hopes = []
            unfinished = [task for task in (*self._asked, *self._ahead.values()) if not task.future.done()]
            self._dropped += self._ahead.values()
            self._ahead = {}
        stopping = [_stop(task) for task in unfinished]
        for thread in stopping:
            thread.join()
        self._pool.shutdown(cancel_futures=True)
        self._pool_ahead.shutdown(cancel_futures=True)
        self.account.thrown_seconds = sum(task.seconds for task in self._dropped)

    def _begun(self, job: Job[Result]) -> _Task[Result]:
        task = self._begin(job, self._pool)
        self._asked.append(task)
        return task

    def _begin(self, job: Job[Result], pool: ThreadPoolExecutor) -> _Task[Result]:
        task = _Task(job, self._process.apart())
        for other in self._going():
            other.accompanied = task.accompanied = True
        task.future = pool.submit(self._carry_out, task)
        task.future.add_done_callback(lambda _: self._fill())
        return task

    def _going(self) -> list[_Task[Result]]:
        everything = (*self._asked, *self._ahead.values(), *self._dropped)
        return [task for task in everything if not task.future.done()]

    def _carry_out(self, task: _Task[Result]) -> Result:
        begun = self._clock.monotonic()
        try:
            return task.job.carry_out(task.process)
        finally:
            task.seconds = self._clock.monotonic() - begun

    def _hope(self, jobs: Sequence[Job[Result]]) -> None:
        """Begin what is likely now, as hands become free, and stop what was likely before and is not any more."""
        with self._guard:
            keys = {job.key for job in jobs}
            gone = [task for key, task in self._ahead.items() if key not in keys]
            for task in gone:
                del self._ahead[task.job.key]
                self._dropped.append(task)
                if not task.future.done():
                    _stop(task)
            self._hopes = list({job.key: job for job in jobs if job.key not in self._ahead}.values())
        self._fill()

    def _fill(self) -> None:
        """Let free hands begin what is likely, as long as somebody waits for what was asked."""
        with self._guard:
            while self._hopes and any(not task.future.done() for task in self._asked):
                if len(self._going()) >= self._hands:
                    return
                job = self._hopes.pop(0)
                self.account.begun += 1
                self._ahead[job.key] = self._begin(job, self._pool_ahead)

    def _result(self, task: _Task[Result], *, early: bool) -> Result:
        """Return what a task showed that has ended; what cannot be trusted, and was not alone, is done anew, alone."""
        failed = task.future.exception() is not None
        doubtful = not failed and task.accompanied and not self._trusted(task.future.result())
        if doubtful or (failed and early):
            with self._guard:
                self._dropped += [task] if early else []
            return self._alone(task.job)
        self.account.used += early
        return task.future.result()

    def _alone(self, job: Job[Result]) -> Result:
        self._hope([])
        wait([task.future for task in self._dropped])
        with self._guard:
            task = self._begin(job, self._pool)
            self._asked = [task]
        wait([task.future])
        return task.future.result()


def _stop(task: _Task[Result]) -> threading.Thread:
    """Begin to end the processes of a task, which take their time to end."""
    task.future.cancel()
    thread = threading.Thread(target=task.process.stop_all, daemon=True)
    thread.start()
    return thread
