"""Work done on the hosts of a fleet: who gets what, and what becomes of it when a host is lost."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

from envmgr.errors import FleetError
from envmgr.fleet.cluster import Cluster, Ticket
from envmgr.fleet.failures import Failures
from envmgr.fleet.newcomers import Newcomers

Job = TypeVar("Job")
Done = TypeVar("Done")

_DEPTH = 2
_LOOK = 1.0
_LONGEST_WAIT = 0.25
_ATTEMPTS = 3


@dataclass(slots=True)
class _Task(Generic[Job]):
    """A job with the hosts whose worker died under it."""

    job: Job
    died: list[str] = field(default_factory=list)


def anywhere(_job: object, hosts: Collection[str]) -> Collection[str]:
    """Let every host take every job."""
    return hosts


def as_it_is(job: Any, _host: str) -> Any:
    """Let a job travel as it is."""
    return job


class ClusterExecutor:
    """Runs jobs on the hosts of a fleet, one at a time on each, each job once.

    `where` says which of the present hosts may take a job; `pack` makes what travels to the host. A job whose worker
    dies is given to another (or the same one come back), at most three times in all. One that has cost three workers,
    and one that nobody can take when no host has come or gone for `patience` seconds, is handed to `unplaced` with a
    sentence; what that returns (nothing: None) is yielded. `newcomers` have further jobs; as long as one is
    being welcomed, nothing is given up.
    """

    def __init__(
        self,
        cluster: Cluster,
        where: Callable[[Any, Collection[str]], Collection[str]] = anywhere,
        pack: Callable[[Any, str], Any] = as_it_is,
        unplaced: Callable[[Any, str, bool], Any] | None = None,
        patience: float = 10.0,
        newcomers: Newcomers | None = None,
    ) -> None:
        self._cluster = cluster
        self._where = where
        self._pack = pack
        self._unplaced = unplaced
        self._patience = patience
        self._newcomers = newcomers or Newcomers()

    def map(self, function: Callable[[Any], Done], jobs: Iterable[Job]) -> Iterator[Done]:
        """Yield what the function returns, in order of completion; jobs are taken as they are needed.

        Exceptions of jobs are raised when all the others are done. Raises FleetError when the scheduler is lost.
        """
        newcomers = self._newcomers
        dispatch = _Dispatch(self._cluster, function, self._pack, newcomers)
        failures = Failures()
        source = iter(jobs)
        waiting: deque[_Task[Job]] = deque()
        try:
            while True:
                waiting.extend(dispatch.orphans())
                room = max(0, dispatch.places - dispatch.running - len(waiting)) or int(not waiting)
                waiting.extend(_Task(job) for job in islice(source, room))
                if not waiting and not dispatch.running and not newcomers.busy:
                    break
                waiting.extend(_Task(job) for job in newcomers.jobs())
                self._hand_out(waiting, dispatch)
                for task, said in self._given_up(waiting, dispatch) if not newcomers.busy else ():
                    yield from self._told(task, said, failures)
                if not waiting and not dispatch.running and not newcomers.busy:
                    continue
                for task, (kind, value) in dispatch.arrived():
                    if kind == "interrupted":
                        raise value
                    if kind == "failed":
                        failures.add(value)
                    elif kind == "lost":
                        task.died.append(value)
                        waiting.append(task)
                    else:
                        yield value
        finally:
            dispatch.cancel()
        failures.surface()
        newcomers.surface()

    def _hand_out(self, waiting: deque[_Task[Job]], dispatch: _Dispatch) -> None:
        for _ in range(len(waiting)):
            task = waiting.popleft()
            hosts = () if len(task.died) >= _ATTEMPTS else self._where(task.job, dispatch.hosts)
            if not dispatch.start(task, hosts):
                waiting.append(task)

    def _given_up(self, waiting: deque[_Task[Job]], dispatch: _Dispatch) -> list[tuple[_Task[Job], str]]:
        """Take out of what waits what costs too many workers, and what nobody has been able to take for too long."""
        given_up = []
        unchanged = time.monotonic() - dispatch.changed
        for task in tuple(waiting):
            if len(task.died) >= _ATTEMPTS:
                said = f"its worker died {len(task.died)} times, on {', '.join(task.died)}"
            elif unchanged > self._patience and not self._where(task.job, dispatch.hosts):
                said = (
                    f"no host that can take it is in the fleet (there: {', '.join(sorted(dispatch.hosts)) or 'none'})"
                )
            else:
                continue
            waiting.remove(task)
            given_up.append((task, said))
        return given_up

    def _told(self, task: _Task[Job], said: str, failures: Failures) -> Iterator[Any]:
        if self._unplaced is None:
            failures.add(FleetError("a job could not be done", said, "look at the fleet's hosts"))
            return
        made = self._unplaced(task.job, said, len(task.died) >= _ATTEMPTS)
        if made is not None:
            yield made


class _Dispatch:
    """What is on its way: which task is with which worker, and what has come back."""

    def __init__(
        self,
        cluster: Cluster,
        function: Callable[[Any], Any],
        pack: Callable[[Any, str], Any],
        newcomers: Newcomers,
    ) -> None:
        self._cluster = cluster
        self._newcomers = newcomers
        self._function = function
        self._pack = pack
        self._finished: SimpleQueue[Ticket] = SimpleQueue()
        self._with: dict[Ticket, tuple[_Task[Any], str]] = {}
        self._load: dict[str, int] = {}
        self._members: Mapping[str, str] = {}
        self._looked = 0.0
        self.changed = time.monotonic()
        self._orphans: list[_Task[Any]] = []
        self._look()

    @property
    def hosts(self) -> Collection[str]:
        """The names of the hosts that are there."""
        return frozenset(self._members.values())

    @property
    def running(self) -> int:
        return len(self._with)

    @property
    def places(self) -> int:
        """How many tasks can be on their way: on each worker one that runs, and one that waits for it there."""
        return _DEPTH * max(1, len(self._members))

    def start(self, task: _Task[Any], hosts: Collection[str]) -> bool:
        """Send a task to the least loaded worker of some hosts, if one of them has a place for it."""
        able = [
            address for address, host in self._members.items() if host in hosts and self._load.get(address, 0) < _DEPTH
        ]
        if not able:
            return False
        fresh = [address for address in able if self._members[address] not in task.died] or able
        address = min(fresh, key=lambda each: (self._load.get(each, 0), each))
        packed = self._pack(task.job, self._members[address])
        ticket = self._cluster.submit(self._function, packed, address, self._finished.put)
        self._with[ticket] = (task, address)
        self._load[address] = self._load.get(address, 0) + 1
        return True

    def arrived(self) -> Iterator[tuple[_Task[Any], tuple[str, Any]]]:
        """Wait a little, and yield every task that has ended, with how: done, failed, interrupted, or lost where."""
        ended = self._ended()
        if not ended or time.monotonic() - self._looked > _LOOK:
            self._look()
        for ticket in ended:
            if ticket in self._with:
                task, address = self._with.pop(ticket)
                self._load[address] = self._load.get(address, 1) - 1
                kind, value = ticket.outcome()
                yield task, (kind, self._members.get(address, address) if kind == "lost" else value)

    def _ended(self) -> list[Ticket]:
        found = []
        try:
            found.append(self._finished.get(timeout=_LONGEST_WAIT))
            while True:
                found.append(self._finished.get_nowait())
        except Empty:
            return found

    def orphans(self) -> list[_Task[Any]]:
        """Return the tasks whose worker has left the fleet since the last call."""
        found, self._orphans = self._orphans, []
        return found

    def cancel(self) -> None:
        """Call back what is on its way: nobody asks for it any more."""
        for ticket in self._with:
            ticket.cancel()
        self._with.clear()

    def _look(self) -> None:
        """See who is there; tasks of those that have left are orphans."""
        if not self._cluster.alive:
            raise self._cluster.lost()
        before = self._members
        members = self._cluster.members()
        self._members = {member.address: member.host for member in members}
        for member in members:
            self._newcomers.see(member.host, member.announced)
        self._looked = time.monotonic()
        if before != self._members:
            self.changed = self._looked
        for ticket, (task, address) in tuple(self._with.items()):
            if address not in self._members:
                del self._with[ticket]
                self._load.pop(address, None)
                task.died.append(before.get(address, address))
                self._orphans.append(task)
                ticket.cancel()
