"""Several runs as one matrix: other hosts' runs beside this one's, later measurements in place of earlier ones."""

from __future__ import annotations

from collections.abc import Sequence

from envmgr.app.runs import stored_run
from envmgr.app.workplace import Workplace
from envmgr.errors import StoreError
from envmgr.model.cell import Cell, Plan
from envmgr.model.env import Env
from envmgr.model.result import CellResult, Run, RunRecord


def runs_of(workplace: Workplace, names: Sequence[str] = ()) -> Run:
    """Return the named runs as one; without names, the latest run and the latest of its matrix from every other host.

    Runs whose head is damaged are left out and named.
    """
    store = workplace.store
    if names:
        return merged([stored_run(workplace, name) for name in dict.fromkeys(names)])
    latest = stored_run(workplace)
    by_host, damaged = {latest.record.host: latest}, []
    for name in reversed(store.names()):
        if name == latest.record.id:
            continue
        try:
            head = store.head(name)
            if head.plan.matrix == latest.record.plan.matrix and head.host not in by_host:
                by_host[head.host] = store.load(name)
        except StoreError as error:
            damaged.append(f"run {name}: {error.why}")
    run = merged(list(by_host.values()))
    return run.model_copy(update={"damaged": (*run.damaged, *damaged)})


def merged(runs: Sequence[Run]) -> Run:
    """Return several runs as one. A cell that several have measured is the latest run's; its results come together."""
    if len(runs) == 1:
        return runs[0]
    ordered = sorted(runs, key=lambda run: run.record.id)
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
        envs |= {f"{run.record.host}/{label}": env for label, env in run.record.envs.items()}
    return Run(
        record=_record(ordered, tuple(cells.values()), envs),
        results=tuple(result for each in results.values() for result in each),
        finished=all(run.finished for run in ordered),
        damaged=tuple(f"{run.record.id}: {text}" for run in ordered for text in run.damaged),
        origins=origins,
        set_aside=tuple(found for run in ordered for found in run.set_aside),
    )


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
        envmgr=_joined([record.envmgr for record in records]),
        plan=plan,
        envs=envs,
    )


def _joined(texts: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(texts))
