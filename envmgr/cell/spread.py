"""Plans of several hosts as one: each cell where it can run, and which cells no host can have."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from envmgr.cell.identity import identity_of, same_device
from envmgr.model.cell import Cell, Plan
from envmgr.model.outcome import Outcome

Key = tuple[str, str, str, str]

_TELLING = (Outcome.GONE, Outcome.BUILD_FAILED)


@dataclass(frozen=True, slots=True)
class Spread:
    """One plan over several hosts, and for each cell (by its key) the hosts that can run it."""

    plan: Plan
    fits: Mapping[Key, frozenset[str]]


def key_of(cell: Cell) -> Key:
    """Return what makes cells of several hosts the same: all but host, platform and Python."""
    return cell.label, cell.runner, cell.device_name, json.dumps(cell.parameters, sort_keys=True, default=str)


def spread(plans: Sequence[Plan]) -> Spread:
    """Return the plans of several hosts as one.

    A cell that several hosts can run is measured once. What is compared with one another is kept on one host where
    that is possible; beyond that the work is shared out evenly. A cell that every host refuses is refused once, with
    what each of them says.
    """
    runnable: dict[Key, dict[str, Cell]] = {}
    for plan in plans:
        for cell in plan.cells:
            if cell.refusal is None:
                runnable.setdefault(key_of(cell), {})[plan.host] = cell
    cells = [*_placed(runnable), *_refused(plans, runnable)]
    first = plans[0]
    whole = first.model_copy(
        update={"host": ", ".join(dict.fromkeys(plan.host for plan in plans)), "cells": tuple(cells)}
    )
    return Spread(whole, {key: frozenset(hosts) for key, hosts in runnable.items()})


def answering(plans: Sequence[Plan], known: Plan) -> tuple[tuple[Cell, ...], tuple[str, ...]]:
    """Return the cells of further hosts' plans that a known plan's hosts refuse, and the ids of what they answer."""
    refused = [cell for cell in known.cells if cell.refusal is not None]
    runnable: dict[Key, dict[str, Cell]] = {}
    answered: list[str] = []
    for plan in plans:
        for cell in (each for each in plan.cells if each.refusal is None):
            able = {plan.host: cell}
            ids = [each.id for each in refused if _answers(key_of(cell), able, each)]
            if ids:
                runnable.setdefault(key_of(cell), {}).update(able)
                answered += ids
    return tuple(_placed(runnable)), tuple(dict.fromkeys(answered))


def _placed(runnable: Mapping[Key, Mapping[str, Cell]]) -> Iterator[Cell]:
    load: Counter[str] = Counter()
    of_group: dict[str, set[str]] = {}
    for able in runnable.values():
        group = next(iter(able.values())).group
        together = of_group.setdefault(group, set())
        host = min(able, key=lambda name: (name not in together, load[name], name))
        together.add(host)
        load[host] += 1
        yield able[host]


def _refused(plans: Sequence[Plan], runnable: Mapping[Key, Mapping[str, Cell]]) -> Iterator[Cell]:
    refused: dict[Key, list[Cell]] = {}
    for plan in plans:
        for cell in plan.cells:
            if cell.refusal is not None and not any(_answers(key, able, cell) for key, able in runnable.items()):
                refused.setdefault(key_of(cell), []).append(cell)
    for same in refused.values():
        told = next((cell for outcome in _TELLING for cell in same if cell.refusal is outcome), same[0])
        if len(plans) > 1:
            reasons = "; ".join(dict.fromkeys(f"{cell.host}: {cell.reason}" for cell in same))
            told = told.model_copy(update={"host": "", "reason": f"no host of the fleet can have it: {reasons}"})
        yield told.model_copy(update={"id": identity_of(told)})


def _answers(key: Key, able: Mapping[str, Cell], refused: Cell) -> bool:
    """Tell whether a cell that some host can run is what another host has refused."""
    label, runner, device, parameters = key_of(refused)
    if (key[0], key[1], key[3]) != (label, runner, parameters):
        return False
    found = next(iter(able.values())).device
    return not device or (found is not None and (found.api == device or same_device(found.id, device)))


class Homes:
    """Which host measures which cell: its own, or the one that has taken it over, with all its processes.

    `results` tells for the ids of cells that have some on which host.
    """

    def __init__(self, results: Mapping[str, str] | None = None) -> None:
        self._results = dict(results or {})
        self._sent: dict[str, str] = {}

    def of(self, cell: Cell, hosts: Collection[str], able: Collection[str]) -> frozenset[str]:
        """Return which of the present hosts may take a cell: another than its own only before it has any result."""
        if cell.id in self._results:
            return frozenset((self._results[cell.id],)).intersection(hosts)
        home = next((host for host in (self._sent.get(cell.id), cell.host) if host in hosts), None)
        return frozenset(able).intersection(hosts) if home is None else frozenset((home,))

    def send(self, cell: Cell, host: str) -> None:
        """Remember that a process of a cell is on its way to a host: the others follow it."""
        self._sent[cell.id] = host

    def keep(self, cell: Cell, host: str) -> None:
        """Remember that a host has measured a process of a cell."""
        self._results.setdefault(cell.id, host)

    def has_results(self, cell: Cell) -> bool:
        """Tell whether anything of a cell has been measured."""
        return cell.id in self._results
