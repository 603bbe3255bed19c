"""Reports for programs: one versioned envelope, strict JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date
from enum import Enum
from pathlib import PurePath
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_json

from envmgr.model.cell import Cell
from envmgr.model.result import JudgedCell, Parity, Run, write_number
from envmgr.model.rounds import RoundsTaken
from envmgr.model.summary import Summary

_SCHEMA = 1
_PLAIN = frozenset({str, int, bool, type(None)})


def envelope(command: str, data: Any, error: Mapping[str, str] | None) -> dict[str, Any]:
    """Return what a command prints with --json: plain data that strict JSON can hold.

    `error` has the keys code, what, why and hint.
    """
    return {
        "schema": _SCHEMA,
        "command": command,
        "data": strict(data),
        "error": None if error is None else dict(error),
    }


def text_of(document: Any) -> str:
    """Return the text of plain data for strict JSON, with what follows indented."""
    try:
        return to_json(document, indent=2).decode()  # ten times as fast as the standard library, which cells by the
    except PydanticSerializationError:  # thousand show; but it has no way to write a path that is no text
        return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)


def strict(value: Any) -> Any:
    """Return any value of ours as plain data for strict JSON; what is not finite becomes `nan`, `inf` or `-inf`."""
    kind = type(value)  # of ten thousand cells nearly all is plain already: a few looks at the exact type
    if kind in _PLAIN:
        return value
    if kind is dict:
        return {key if type(key) is str else str(strict(key)): strict(item) for key, item in value.items()}
    if kind is list or kind is tuple:
        return [strict(item) for item in value]
    plain = _one_step(value)
    if isinstance(plain, tuple) and hasattr(plain, "_asdict"):
        plain = plain._asdict()
    if isinstance(plain, Mapping):
        return {str(strict(key)): strict(item) for key, item in plain.items()}
    return [strict(item) for item in plain] if isinstance(plain, list | tuple) else plain


def _one_step(value: Any) -> Any:
    """Return what is not plain as something plainer; what it holds may still be anything."""
    match value:
        case BaseModel():
            return value.model_dump(by_alias=True)
        case set() | frozenset():
            return sorted(value, key=str)
        case Enum():
            return value.value
        case float():
            return write_number(value)
        case date() | PurePath():
            return str(value)
        case _:
            return value


def run_data(
    run: Run, judged: Sequence[JudgedCell], summaries: Mapping[str, Summary], rounds: Sequence[RoundsTaken] = ()
) -> dict[str, Any]:
    """Return `data` of a matrix for `envelope`: `run` and `cells`.

    `summaries` is by cell id; `rounds` tells why some rounds followed.
    """
    record, plan = run.record, run.record.plan
    head = {
        "id": record.id,
        "matrix": plan.matrix,
        "effort": plan.effort,
        "processes": plan.processes,
        "further": plan.further,
        "rounds": rounds,
        "host": record.host,
        "envmgr": record.envmgr,
        "command": record.command,
        "started_at": record.started_at,
        "finished": run.finished,
        "unexpected": sum(cell.unexpected for cell in judged),
        "damaged": run.damaged,
    }
    cells = [_cell_data(run, cell, summaries.get(cell.cell.id)) for cell in judged]
    return {"run": head, "cells": cells}


def plan_data(cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """Return planned cells in the shape that measured ones have, as far as it is known beforehand."""
    return [
        {**_identity(cell), "outcome": cell.refusal, "phase": cell.phase, "reason": cell.reason, "host": cell.host}
        for cell in cells
    ]


def _identity(cell: Cell) -> dict[str, Any]:
    return {
        "id": cell.id,
        "name": cell.name,
        "manifest": cell.manifest,
        "variant": cell.variant,
        "platform": cell.platform,
        "python": cell.python,
        "backend": cell.backend,
        "runner": cell.runner,
        "device": _device_data(cell),
        "parameters": cell.parameters,
    }


def _cell_data(run: Run, judged: JudgedCell, summary: Summary | None) -> dict[str, Any]:
    cell = judged.cell
    env = run.record.envs.get(run.env_name(cell))
    reports = [result.report for result in judged.results if result.report]
    return {
        **_identity(cell),
        "outcome": judged.outcome,
        "observed": judged.observed,
        "expected": judged.expected,
        "unexpected": judged.unexpected,
        "phase": judged.phase,
        "reason": judged.reason,
        "host": next((result.host for result in judged.results if result.host), cell.host),
        "resolved": env.resolved if env else {},
        "interpreter": env.interpreter if env else None,
        "effort": run.record.plan.effort,
        "processes": summary.processes if summary else 0,
        "first_call": summary.first_call if summary else None,
        "samples": [report.samples for report in reports],
        "median": summary.median if summary else None,
        "interval": summary.interval if summary else None,
        "spread": summary.spread if summary else None,
        "throughput": summary.throughput if summary else None,
        "peak_memory": summary.peak_memory if summary else None,
        "marks": summary.marks if summary else (),
        "conditions": [result.conditions for result in judged.results if result.conditions],
        "metrics": [report.metrics for report in reports],
        "notes": list(dict.fromkeys(note for report in reports for note in report.notes)),
        "logs": [result.log for result in judged.results if result.log],
        "parity": _parity_data(judged.parity),
        "finding": judged.finding,
    }


def _device_data(cell: Cell) -> dict[str, Any] | None:
    """Return the device; one that is not there is shown by the name under which it was asked for."""
    if cell.device:
        return {"id": cell.device.id, "api": cell.device.api, "physical": cell.device.physical}
    return {"id": cell.device_asked, "api": cell.api, "physical": ""} if cell.device_asked else None


def _parity_data(parity: Parity | None) -> dict[str, Any] | None:
    return parity.model_dump(include={"reference", "max_abs", "max_rel", "share_off", "verdict"}) if parity else None
