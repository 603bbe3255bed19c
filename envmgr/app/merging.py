"""Several runs as one matrix: other hosts' runs beside this one's, later measurements in place of earlier ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from envmgr.app.runs import stored_run
from envmgr.app.workplace import Workplace
from envmgr.cell.identity import identity_of
from envmgr.errors import StoreError
from envmgr.model.cell import Cell, Plan
from envmgr.model.env import Env
from envmgr.model.result import CellResult, Run, RunRecord, strangers

_SHOWN = 4


def runs_of(workplace: Workplace, names: Sequence[str] = ()) -> Run:
    """Return the named runs as one; without names, the latest run and the latest of its matrix from every other host.

    Machines of one name are different hosts, unless one of the runs is too old to tell.
    Runs whose head is damaged are left out and named.
    """
    store = workplace.store
    if names:
        return merged([stored_run(workplace, name) for name in dict.fromkeys(names)])
    latest = stored_run(workplace)
    latest_ones, damaged = [latest], []
    for name in reversed(store.names()):
        if name == latest.record.id:
            continue
        try:
            head = store.head(name)
            alike = (head.purpose, head.plan.matrix) == (latest.record.purpose, latest.record.plan.matrix)
            if alike and not any(_same_host(head, run) for run in latest_ones):
                latest_ones.append(store.load(name))
        except StoreError as error:
            damaged.append(f"run {name}: {error.why}")
    run = merged(latest_ones)
    return run.model_copy(update={"damaged": (*run.damaged, *damaged)})


def merged(runs: Sequence[Run]) -> Run:
    """Return several runs as one. A cell that several have measured is the latest run's; its results come together."""
    if len(runs) == 1:
        return runs[0]
    ordered = _told_apart(sorted(runs, key=lambda run: run.record.id))
    cells: dict[str, Cell] = {}
    origins: dict[str, str] = {}
    results: dict[str, list[CellResult]] = {}
    envs: dict[str, Env] = {}
    for run in ordered:
        found: dict[str, list[CellResult]] = {}
        for result in run.results:
            found.setdefault(result.cell, []).append(result)
        for cell in run.record.plan.cells:
            if cell.id not in cells or cell.id in found or cell.refusal:
                cells[cell.id] = cell
                origins[cell.id] = run.record.id
                results[cell.id] = found.get(cell.id, [])
        envs |= {_with_host(label, run.record.host): env for label, env in run.record.envs.items()}
    return Run(
        record=_record(ordered, tuple(cells.values()), envs),
        results=tuple(result for each in results.values() for result in each),
        finished=all(run.finished for run in ordered),
        damaged=tuple(f"{run.record.id}: {text}" for run in ordered for text in run.damaged),
        origins=origins,
        set_aside=tuple(found for run in ordered for found in run.set_aside),
        proven={ident: found for run in ordered for ident, found in run.proven.items()},
    )


def _same_host(head: RunRecord, run: Run) -> bool:
    return head.host == run.record.host and not strangers(head, run.record)


def _told_apart(runs: Sequence[Run]) -> list[Run]:
    """Return the runs with other names for the hosts that several machines are called by: `box (3f2a)`."""
    shared = frozenset[str]().union(*(strangers(one.record, other.record) for one in runs for other in runs))
    return [_renamed(run, shared & run.record.identities.keys()) if shared else run for run in runs]


def _renamed(run: Run, names: frozenset[str]) -> Run:
    record = run.record
    new = {name: f"{name} ({record.identities[name][:_SHOWN]})" for name in names}
    cells = {cell.id: _moved(cell, new.get(cell.host)) for cell in record.plan.cells}
    results = tuple(
        result.model_copy(update={"cell": cells[result.cell].id, "host": new.get(result.host, result.host)})
        for result in run.results
        if result.cell in cells
    )
    aside = tuple(
        found.model_copy(
            update={"cells": tuple((cells[cell].id, number) for cell, number in found.cells if cell in cells)}
        )
        for found in run.set_aside
    )
    hosts = ", ".join(new.get(name, name) for name in record.host.split(", "))
    head = record.model_copy(
        update={
            "host": hosts,
            "identities": {new.get(name, name): identity for name, identity in record.identities.items()},
            "plan": record.plan.model_copy(update={"host": hosts, "cells": tuple(cells.values())}),
            "envs": {_under(label, new): env for label, env in record.envs.items()},
        }
    )
    return run.model_copy(update={"record": head, "results": results, "set_aside": aside})


def _moved(cell: Cell, host: str | None) -> Cell:
    if host is None:
        return cell
    moved = cell.model_copy(update={"host": host})
    return moved.model_copy(update={"id": identity_of(moved)})


def _with_host(label: str, host: str) -> str:
    """Return the name of an env with its host, which that of a fleet's run has."""
    return label if "/" in label else f"{host}/{label}"


def _under(label: str, new: Mapping[str, str]) -> str:
    """Return the name of an env of a run, that of a fleet under its host's new name."""
    host, mark, rest = label.partition("/")
    return f"{new.get(host, host)}{mark}{rest}"


def _record(runs: Sequence[Run], cells: tuple[Cell, ...], envs: dict[str, Env]) -> RunRecord:
    records = [run.record for run in runs]
    plan = Plan(
        matrix=_joined([record.plan.matrix for record in records]),
        effort=_joined([record.plan.effort for record in records]),
        processes=max(record.plan.processes for record in records),
        host=_joined([record.host for record in records]),
        cells=cells,
    )
    return RunRecord(
        id=_joined([record.id for record in records]),
        started_at=records[-1].started_at,
        host=plan.host,
        identities={name: identity for record in records for name, identity in record.identities.items()},
        envmgr=_joined([record.envmgr for record in records]),
        plan=plan,
        envs=envs,
    )


def _joined(texts: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(texts))
