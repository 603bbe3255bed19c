"""A fleet of hosts through Dask.distributed; the only module that knows it, and it knows nothing of cells."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import dask
from distributed import Client, Future, Scheduler, Security, Worker
from distributed.comm.core import CommClosedError

from envmgr.errors import FleetError

Job = TypeVar("Job")
Done = TypeVar("Done")

_HOST = "envmgr-host"
_ANNOUNCED = "envmgr"
_TASKS = "timing"
_SILENCE = 30.0
_PAGES = "127.0.0.1:0"
"""Where Dask's own web server listens, which cannot be left out: on a free port, reachable from this machine alone."""


@dataclass(frozen=True, slots=True)
class Member:
    """One worker of a fleet: its address, the name of its host, and what the host announced of itself."""

    address: str
    host: str
    announced: str


class Cluster:
    """A connection to a scheduler; raises FleetError when there is none, or none any more."""

    def __init__(self, address: str, timeout: float = 30.0) -> None:
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        self.address = address
        security = _security(address, "client")
        try:
            self._client = Client(address, timeout=timeout, security=security, set_as_default=False, name="envmgr")
        except (OSError, TimeoutError, ValueError, TypeError) as error:
            raise FleetError(
                f"the scheduler at {address} does not answer",
                f"wanted a fleet there; found: {error}",
                "start one with: envmgr fleet up; look at the address, the firewall and the certificates",
            ) from error

    def members(self) -> tuple[Member, ...]:
        """Return the workers that are there now and announce themselves as hosts of envmgr."""
        try:
            found = self._client.scheduler_info(n_workers=-1)["workers"]
        except (OSError, CommClosedError, TimeoutError, RuntimeError, AttributeError) as error:
            raise self.lost(error) from error
        return tuple(
            Member(address, str(facts[_HOST]), str(facts[_ANNOUNCED]))
            for address, facts in found.items()
            if _ANNOUNCED in facts
        )

    def submit(
        self, function: Callable[[Any], Any], argument: Any, address: str, finished: Callable[[Ticket], None]
    ) -> Ticket:
        """Send one task to one worker; `finished` is called in another thread when it has ended in whatever way."""
        future = self._client.submit(
            _Guarded(function), argument, workers=[address], allow_other_workers=False, pure=False, retries=0
        )
        ticket = Ticket(future, self)
        future.add_done_callback(lambda _: finished(ticket))
        return ticket

    @property
    def alive(self) -> bool:
        """True while the scheduler is connected."""
        return bool(self._client.status == "running")

    def lost(self, error: BaseException | None = None) -> FleetError:
        """Return the error of a scheduler that is gone."""
        return FleetError(
            f"the scheduler at {self.address} is gone",
            f"what was measured is kept{f'; found: {error}' if error else ''}",
            "start a fleet again, then go on with: envmgr matrix run --resume --fleet ADDRESS",
        )

    def close(self) -> None:
        """Leave the fleet; its hosts go on."""
        self._client.close(timeout=2)


def _security(address: str, role: str) -> Security:
    """Return Dask's own security settings; raises FleetError where they lack what an encrypted address needs."""
    security = Security()
    if address.startswith(("tls", "wss")) and security.get_connection_args(role).get("ssl_context") is None:
        raise FleetError(
            f"{address} is encrypted, and Dask has no certificates for it here",
            f"wanted distributed.comm.tls.ca-file and .{role}.cert in Dask's configuration; found none",
            f"export DASK_DISTRIBUTED__COMM__TLS__CA_FILE=... DASK_DISTRIBUTED__COMM__TLS__{role.upper()}__CERT=...",
        )
    return security


class Ticket:
    """One task on its way."""

    def __init__(self, future: Future[Any], cluster: Cluster) -> None:
        self._future = future
        self._cluster = cluster

    def outcome(self) -> tuple[str, Any]:
        """Return how the task ended, with what it returned or raised: done, failed, interrupted; or lost.

        It is lost when its worker died before the result was here. Raises FleetError when the scheduler is gone.
        """
        try:
            if self._future.status == "finished":
                kind, value = self._future.result(timeout=60)
                self._future.release()
                return kind, value
            error = self._future.exception(timeout=10) if self._future.status == "error" else None
        except (OSError, CommClosedError, TimeoutError, asyncio.CancelledError):
            error = None
        if not self._cluster.alive:
            raise self._cluster.lost()
        if isinstance(error, Exception) and type(error).__module__.partition(".")[0] not in {"distributed", "dask"}:
            return "failed", error
        return "lost", None

    def cancel(self) -> None:
        """Call the task back: nobody asks for it any more."""
        with contextlib.suppress(OSError, RuntimeError, CommClosedError, TimeoutError):
            self._future.cancel()


class _Guarded(Generic[Job, Done]):
    """A function that returns what it returned or raised, so that no exception of a job is one of the fleet's."""

    def __init__(self, function: Callable[[Job], Done]) -> None:
        self._function = function

    def __call__(self, job: Job) -> tuple[str, Any]:
        try:
            return "done", self._function(job)
        except (KeyboardInterrupt, SystemExit) as error:
            return "interrupted", type(error)
        except Exception as error:  # noqa: BLE001 - it is raised where the results are awaited
            return "failed", error


@dataclass(frozen=True, slots=True)
class Announcement:
    """What a worker says of its host: the host's name, a text for whoever plans, and tags for Dask's own pages."""

    host: str
    text: str
    tags: tuple[str, ...] = ()


def serve(address: str, announcement: Announcement, folder: str) -> None:
    """Be a worker of a fleet, one task at a time, until the scheduler is gone for a minute or the process is ended."""
    logging.getLogger("distributed").setLevel(logging.CRITICAL)

    async def work() -> None:
        async with Worker(
            address,
            nthreads=1,
            name=f"{announcement.host}-{secrets.token_hex(4)}",
            resources={_TASKS: 1, **dict.fromkeys(announcement.tags, 1)},
            startup_information={
                _HOST: lambda _worker: announcement.host,
                _ANNOUNCED: lambda _worker: announcement.text,
            },
            local_directory=folder,
            dashboard=False,
            dashboard_address=_PAGES,
            memory_limit=0,
            death_timeout=60,
            security=_security(address, "worker"),
        ) as worker:
            await worker.finished()

    asyncio.run(work())


def schedule(host: str, port: int, protocol: str, ready: Callable[[str], None]) -> None:
    """Be the scheduler of a fleet until the process is ended; `ready` is told the address.

    A worker that is not heard of for half a minute counts as gone: its tasks are given to others.
    """
    logging.getLogger("distributed").setLevel(logging.CRITICAL)

    async def work() -> None:
        async with Scheduler(
            host=host,
            port=port,
            protocol=protocol,
            dashboard=False,
            dashboard_address=_PAGES,
            worker_ttl=_SILENCE,
            security=_security(f"{protocol}://", "scheduler"),
        ) as scheduler:
            ready(scheduler.address)
            await scheduler.finished()

    with dask.config.set({"distributed.comm.timeouts.tcp": "30s"}):
        asyncio.run(work())
