"""Work done here and now, one job after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from envmgr.fleet.failures import Failures

Job = TypeVar("Job")
Done = TypeVar("Done")


class InlineExecutor:
    """Runs jobs in the calling thread, in their order."""

    def map(self, function: Callable[[Job], Done], jobs: Iterable[Job]) -> Iterator[Done]:
        """Yield what the function returns for each job; exceptions of jobs are raised when all the others are done."""
        failures = Failures()
        for job in jobs:
            try:
                done = function(job)
            except Exception as error:  # noqa: BLE001 - whatever a job raises must not cost the others their results
                failures.add(error)
            else:
                yield done
        failures.surface()
