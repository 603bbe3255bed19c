"""What was measured: a runner's report, a cell's result, a run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, GetPydanticSchema
from pydantic_core import core_schema

from envmgr.model.cell import Cell, Plan
from envmgr.model.conditions import Conditions
from envmgr.model.env import DeviceListing, Env
from envmgr.model.finding import Finding
from envmgr.model.noun import Noun
from envmgr.model.outcome import Outcome, Phase


def write_number(value: float) -> float | str:
    """Return the number as strict JSON can hold it: what is not finite becomes `nan`, `inf` or `-inf`."""
    if math.isfinite(value):
        return value
    return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")


_NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_NUMBER = core_schema.union_schema(
    [
        core_schema.float_schema(strict=True),
        core_schema.no_info_after_validator_function(
            _NOT_FINITE.__getitem__, core_schema.literal_schema(list(_NOT_FINITE))
        ),
    ],
    mode="left_to_right",
    custom_error_type="number",
    custom_error_message="Input should be a number, or one of nan, inf, -inf",
    serialization=core_schema.plain_serializer_function_ser_schema(write_number, when_used="json"),
)
Number = Annotated[float, GetPydanticSchema(lambda _source, _handler: _NUMBER)]
"""A float whose JSON form is strict: numbers that are not finite are the strings nan, inf and -inf."""


class RunnerError(Noun):
    """The exception that ended a runner's measurement."""

    phase: Phase
    type: str
    message: str
    traceback: str = ""


class RunnerCheck(Noun):
    """A value that the runner itself could check."""

    name: str
    passed: bool
    wanted: Any = None
    found: Any = None


class Output(Noun):
    """One named tensor, flattened in row-major order; parity compares it with the reference cell's."""

    shape: tuple[int, ...]
    values: tuple[Number, ...]


class Report(Noun):
    """What a runner wrote (runners/PROTOCOL.md); times in seconds, memory in bytes."""

    protocol: Literal[1]
    cell: str
    status: Literal["ok", "failed"]
    error: RunnerError | None = None
    backend: str | None = None
    device: str | None = None
    versions: dict[str, str] = Field(default_factory=dict)
    first_call: float | None = None
    warmup: tuple[float, ...] = ()
    samples: tuple[float, ...] = ()
    items_per_sample: float | None = None
    peak_memory: int | None = None
    outputs: dict[str, Output] = Field(default_factory=dict)
    checks: tuple[RunnerCheck, ...] = ()
    metrics: dict[str, Number | tuple[Number, ...]] = Field(default_factory=dict)
    modules: dict[str, dict[str, str | None]] = Field(default_factory=dict)
    notes: tuple[str, ...] = ()


class CellResult(Noun):
    """One process of one cell, as it happened: outcome before any judgement of parity or expectation.

    `round` counts the processes of a cell from 0. `reason` is one line. `peak_memory` is in bytes, as the operating
    system tells: through the runner itself if it reports it, else as seen from outside. `log` is the log's place
    relative to the run's folder. `finding` is what the log and the facts of the machine say of a process that did not
    pass. `conditions` tells what else went on in the machine, `host` where
    in a fleet it ran. `env_changed` tells what had changed in its env, which was set aside and built again: before the
    process if that passed, else under it.
    """

    schema_: Literal[1] = Field(default=1, alias="schema", serialization_alias="schema")
    cell: str
    round: int = 0
    outcome: Outcome
    phase: Phase | None = None
    reason: str = ""
    exit_code: int | None = None
    signal: int | None = None
    started_at: str = ""
    elapsed: float = 0.0
    peak_memory: int | None = None
    report: Report | None = None
    log: str = ""
    conditions: Conditions | None = None
    finding: Finding | None = None
    host: str = ""
    env_changed: str = ""


class SetAside(Noun):
    """An env that was found changed, set aside and built again after results of cells in it had been given.

    `cells` are those that were in it since it was last seen as it was built, by cell and round; one of them, or
    somebody else meanwhile, has changed it.
    """

    schema_: Literal[1] = Field(default=1, alias="schema", serialization_alias="schema")
    env: str
    changed: str
    cells: tuple[tuple[str, int], ...] = ()


def spoilt(result: CellResult, changed: str, others: int = 0) -> CellResult:
    """Return the result of a process under which, or under `others` beside it, its env was changed: it has failed."""
    when = f"while it or {others} others ran" if others else "while it ran"
    reason = f"{when} its environment was changed: {changed}; it was set aside and built again"
    parts = (reason, result.reason)
    update = {
        "outcome": Outcome.FAILED,
        "phase": Phase.CHECK,
        "reason": "; ".join(part for part in parts if part),
        "env_changed": changed,
    }
    return result.model_copy(update=update)


class Parity(Noun):
    """How far a cell's outputs are from those of its reference cell.

    `max_rel` is relative to the reference tensor's root mean square; `share_off` the share of numbers out of tolerance.
    """

    reference: str
    max_abs: Number
    max_rel: Number
    share_off: float
    verdict: Literal["agrees", "disagrees", "not-compared"]
    worst: str = ""


class RunRecord(Noun):
    """The head of a run: what was planned, where, and in which envs; `identities` are those of the hosts by name.

    What a bisection measures is a run like any other, but never `latest`: that is a matrix the user asked for.
    """

    schema_: Literal[1] = Field(default=1, alias="schema", serialization_alias="schema")
    id: str
    started_at: str
    command: tuple[str, ...] = ()
    purpose: Literal["matrix", "bisect"] = "matrix"
    host: str
    identities: dict[str, str] = Field(default_factory=dict)
    envmgr: str
    plan: Plan
    envs: dict[str, Env] = Field(default_factory=dict)
    listings: dict[str, DeviceListing] = Field(default_factory=dict)


class Extension(Noun):
    """What a host that joined a run later adds to its head: cells in place of refused ones, and the envs for them."""

    schema_: Literal[1] = Field(default=1, alias="schema", serialization_alias="schema")
    host: str
    identity: str = ""
    cells: tuple[Cell, ...]
    answered: tuple[str, ...] = ()
    envs: dict[str, Env] = Field(default_factory=dict)
    listings: dict[str, DeviceListing] = Field(default_factory=dict)


def extended(record: RunRecord, extensions: Sequence[Extension]) -> RunRecord:
    """Return the head of a run with what hosts that joined later have added."""
    for each in extensions:
        plan = record.plan
        cells = (*(cell for cell in plan.cells if cell.id not in each.answered), *each.cells)
        hosts = dict.fromkeys((*plan.host.split(", "), each.host))
        update = {
            "plan": plan.model_copy(update={"cells": cells, "host": ", ".join(hosts)}),
            "host": ", ".join(dict.fromkeys((*record.host.split(", "), each.host))),
            "identities": {**record.identities, each.host: each.identity},
            "envs": {**record.envs, **each.envs},
            "listings": {**record.listings, **each.listings},
        }
        record = record.model_copy(update=update)
    return record


def strangers(one: RunRecord, other: RunRecord) -> frozenset[str]:
    """Return the names under which two runs have different machines; where an identity is not known, they are one."""
    shared = one.identities.keys() & other.identities.keys()
    known = {name for name in shared if one.identities[name] and other.identities[name]}
    return frozenset(name for name in known if one.identities[name] != other.identities[name])


class JudgedCell(Noun):
    """A cell with all its processes and the verdict on it: what tables and JSON show.

    `observed` is what happened, with parity taken into account; `expected` what an `[[expect]]` says; `outcome` both
    together (`xfail`, `xpass`, or the observed one); `unexpected` tells that the cell fails the matrix.
    """

    cell: Cell
    outcome: Outcome
    observed: Outcome | None
    expected: Outcome | None = None
    unexpected: bool = False
    phase: Phase | None = None
    reason: str = ""
    results: tuple[CellResult, ...] = ()
    parity: Parity | None = None
    finding: Finding | None = None


class Run(Noun):
    """A run as read back: its record and every result that could be read; `damaged` names the files that could not.

    `proven` are findings that experiments came to after the run, by the id that their cells share.
    Of several runs put together, `origins` tells for a cell's id the run that it comes from. `set_aside` are envs
    that were found changed only after results had been stored.
    """

    record: RunRecord
    results: tuple[CellResult, ...]
    finished: bool = False
    damaged: tuple[str, ...] = ()
    origins: dict[str, str] = Field(default_factory=dict)
    proven: dict[str, Finding] = Field(default_factory=dict)
    set_aside: tuple[SetAside, ...] = ()

    @property
    def settled(self) -> tuple[CellResult, ...]:
        """The results, those failed whose env was later found changed under them."""
        doubted = {each: found for found in self.set_aside for each in found.cells}
        if not doubted:
            return self.results
        return tuple(
            spoilt(result, found.changed, len(found.cells) - 1)
            if (found := doubted.get((result.cell, result.round))) and not result.env_changed
            else result
            for result in self.results
        )

    def env_name(self, cell: Cell) -> str:
        """Return under which name the record has the env of a cell, empty where it has none."""
        names = (f"{cell.host}/{cell.label}", cell.label)  # of several hosts put together, the host stands before it
        return next((name for name in names if name in self.record.envs), "")
