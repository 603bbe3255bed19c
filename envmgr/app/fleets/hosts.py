"""The hosts of a fleet: what each announces of itself, and how this machine becomes one."""

from __future__ import annotations

import importlib.util
import sys
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from envmgr.app.fleets.worker import Host, settle
from envmgr.app.hosting import facts_of, true_settings
from envmgr.app.version import version
from envmgr.app.workplace import Workplace
from envmgr.errors import FleetError
from envmgr.fleet.addresses import checked_address
from envmgr.model.host import HostFacts
from envmgr.model.noun import Noun
from envmgr.ports import Event, ProcessRequest

_STARTS = 20


class Announced(Noun):
    """What a worker tells of its host: the envmgr and the Python that it runs, and the host's facts."""

    envmgr: str
    python: str
    facts: HostFacts


@dataclass(frozen=True, slots=True)
class WorkerWishes:
    """How this machine is to be a host of a fleet.

    `name` is what it is called there. With `facts` it announces those of a file, and with `stand_in` that interpreter
    answers for every env: for trying out. `together` lets cells run beside those of other workers on this machine.
    """

    address: str
    name: str | None = None
    facts: Path | None = None
    stand_in: Path | None = None
    together: bool = False
    insecure: bool = False


def demand_fleet() -> None:
    """Raise FleetError where the extra that a fleet needs is not installed."""
    if importlib.util.find_spec("distributed") is None:
        raise FleetError(
            "a fleet needs dask.distributed", "it is not installed", "python -m pip install 'envmgr[fleet]'"
        )


def be_worker(workplace: Workplace, wishes: WorkerWishes) -> None:
    """Be a host of a fleet until the scheduler is gone or this process is ended."""
    demand_fleet()
    from envmgr.fleet.cluster import Announcement, serve

    address = checked_address(wishes.address, insecure=wishes.insecure)
    facts = facts_of(workplace, wishes.facts)
    facts = facts.model_copy(update={"name": wishes.name or facts.name})
    settle(Host(workplace, facts, true_settings(workplace), wishes.stand_in, wishes.together))
    told = Announced(envmgr=version(), python=_this_python(), facts=facts).model_dump_json(by_alias=True)
    workplace.listener.on_event(Event("worker", facts.name, f"of the fleet at {address}"))
    with workplace.files.scratch("fleet") as folder:
        serve(address, Announcement(facts.name, told, _tags(facts)), str(folder))
    raise FleetError(f"the scheduler at {address} is gone", "nothing comes from it any more", "envmgr fleet up")


def be_fleet(workplace: Workplace, address: str, workers: int, *, insecure: bool) -> None:
    """Be a scheduler with some workers on this machine, until this process is ended; a worker that dies is replaced."""
    demand_fleet()
    from envmgr.fleet.cluster import schedule

    protocol, _, place = checked_address(address, insecure=insecure).partition("://")
    host, _, port = place.rpartition(":")

    def begin(true_address: str) -> None:
        workplace.listener.on_event(Event("fleet", true_address, f"envmgr matrix run --fleet {true_address}"))
        for number in range(1, workers + 1):
            name = f"{workplace.caller.host}-{number}"
            arguments = (true_address, "--name", name, "--together", *(("--insecure",) if insecure else ()))
            threading.Thread(target=_keep_worker, args=(workplace, arguments), daemon=True).start()

    schedule(host.strip("[]"), int(port), protocol, begin)


def hosts_of(members: Iterable[tuple[str, str]]) -> dict[str, HostFacts]:
    """Return the facts of a fleet's hosts by name, from names and what they announce.

    Raises FleetError for version skew, and for two machines under one name.
    """
    hosts: dict[str, HostFacts] = {}
    for name, text in members:
        try:
            told = Announced.model_validate_json(text)
        except ValidationError as error:
            raise _skew(name, "another envmgr, which announces itself otherwise") from error
        if told.envmgr != version():
            raise _skew(name, f"envmgr {told.envmgr}")
        facts = told.facts.model_copy(update={"name": name})
        if name in hosts and hosts[name].identity != facts.identity:
            raise FleetError(
                f"two hosts of the fleet are called {name}",
                f"their facts differ: {hosts[name].identity or 'unknown'} and {facts.identity or 'unknown'}",
                f"start one of their workers with another name: envmgr fleet worker ADDRESS --name {name}-2",
            )
        hosts[name] = facts
    if not hosts:
        raise FleetError(
            "the fleet has no host", "wanted workers; found a scheduler alone", "envmgr fleet worker ADDRESS, on each"
        )
    return dict(sorted(hosts.items()))


def _skew(name: str, found: str) -> FleetError:
    return FleetError(
        f"{name} does not fit this client",
        f"wanted envmgr {version()} on every host; found {found}",
        f"on {name}: python -m pip install 'envmgr[fleet]=={version()}', then start its worker again",
    )


def _keep_worker(workplace: Workplace, arguments: tuple[str, ...]) -> None:
    argv = (sys.executable, "-m", "envmgr", "fleet", "worker", *arguments)
    for _ in range(_STARTS):
        done = workplace.process.run(ProcessRequest(argv))
        if done.good or not done.started:
            return
        workplace.listener.on_event(Event("worker ended", arguments[2], f"started again: {_last(done.stderr)}"))


def _last(text: str) -> str:
    return (text.strip().splitlines() or ["no word"])[-1]


def _this_python() -> str:
    return ".".join(str(part) for part in sys.version_info[:3])


def _tags(facts: HostFacts) -> tuple[str, ...]:
    """Return what Dask's own pages show of a host: its system, its Pythons, the APIs of its devices."""
    pythons = (f"python {one.minor} {one.arch}" for one in facts.interpreters)
    apis = (f"api {api}" for card in facts.accelerators for api in card.apis)
    return tuple(dict.fromkeys((f"{facts.system} {facts.machine}", *pythons, *apis)))
